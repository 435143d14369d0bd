#include <mezzo/training/keras_files/compile_out.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/keras_files/objects_out.hpp>

namespace mezzo::detail {
namespace {

template <class One>
Json per_output_out(const Json& value, const One& one) {
  if (value.is_null()) return nullptr;
  if (value.contains("for_all")) return one(value["for_all"]);
  if (value.contains("list")) {
    Json list = Json::array();
    for (const Json& item : value["list"]) list.push_back(one(item));
    return list;
  }
  Json named = Json::object();
  for (const Json& item : value.at("by_name")) named[item.at(0).get<std::string>()] = one(item.at(1));
  return named;
}

/// True for [name, metrics] in a list by names of outputs.
bool is_named(const Json& item) {
  return item.is_array() && item.size() == 2 && item[0].is_string() && !item[1].is_null();
}

Json metrics_out(const Json& value) {
  const ConfigDepth depth;
  if (value.is_object()) return object_out(KerasFamily::metric, value);
  if (!value.is_array()) return value;
  Json out = Json::array();
  for (const Json& item : value) out.push_back(metrics_out(item));
  return out;
}

/// Metrics as a list, or by the names of outputs.
Json all_metrics_out(const Json& value, const std::vector<std::string>& outputs) {
  bool named = value.is_array() && !value.empty();
  if (named) {
    for (const Json& item : value) {
      named = named && is_named(item) &&
              std::find(outputs.begin(), outputs.end(), item[0].get<std::string>()) != outputs.end();
    }
  }
  if (!named) {
    if (value.is_array() && value.empty()) return nullptr;
    return value.is_array() || value.is_null() ? metrics_out(value) : Json::array({metrics_out(value)});
  }
  Json out = Json::object();
  for (const Json& item : value) {
    const Json metrics = metrics_out(item[1]);
    out[item[0].get<std::string>()] = metrics.is_array() ? metrics : Json::array({metrics});
  }
  return out;
}

}  // namespace

Json keras_compile_out(const Json& config, const std::vector<std::string>& outputs) {
  const Json& excluded = config.at("exclude_from_weight_decay");
  if (!excluded.at("var_list").empty() || !excluded.at("var_names").empty()) {
    fail<ValueError>("[compile]", "Keras' files can't hold exclude_from_weight_decay()");
  }
  Json optimizer = object_out(KerasFamily::optimizer, config.at("optimizer"));
  const auto loss = [](const Json& value) { return object_out(KerasFamily::loss, value); };
  const auto number = [](const Json& value) { return value; };
  return {{"optimizer", optimizer},
          {"loss", per_output_out(config.at("loss"), loss)},
          {"loss_weights", per_output_out(config.at("loss_weights"), number)},
          {"metrics", all_metrics_out(config.at("metrics"), outputs)},
          {"weighted_metrics", all_metrics_out(config.at("weighted_metrics"), outputs)},
          {"run_eagerly", false},
          {"steps_per_execution", 1},
          {"jit_compile", false}};
}

}  // namespace mezzo::detail
