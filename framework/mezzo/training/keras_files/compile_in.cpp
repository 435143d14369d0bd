#include <mezzo/training/keras_files/compile_in.hpp>

#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/precision/loss_scale.hpp>
#include <mezzo/training/keras_files/objects_in.hpp>

namespace mezzo::detail {
namespace {

constexpr const char* label = "[compile_config]";

Json value_of(const Json& config, const char* name) {
  const auto found = config.find(name);
  return found == config.end() ? Json() : *found;
}

bool is_object(const Json& value) { return value.is_object() && value.contains("class_name"); }

Json loss_in(const Json& value) { return object_in(KerasFamily::loss, value, label); }

/// A value for all outputs, a list or values by name.
template <class One>
Json per_output_in(const Json& value, const One& one) {
  if (value.is_null()) return nullptr;
  if (value.is_object() && !is_object(value)) {
    Json named = Json::array();
    for (const auto& item : value.items()) named.push_back({item.key(), one(item.value())});
    return {{"by_name", named}};
  }
  if (!value.is_array()) return {{"for_all", one(value)}};
  Json list = Json::array();
  for (const Json& item : value) list.push_back(one(item));
  return {{"list", list}};
}

Json metrics_in(const Json& value) {
  const ConfigDepth depth;
  if (value.is_null()) return nullptr;
  if (value.is_string()) return value;
  if (is_object(value)) return object_in(KerasFamily::metric, value, label);
  Json out = Json::array();
  if (value.is_object()) {
    for (const auto& item : value.items()) out.push_back({item.key(), metrics_in(item.value())});
  } else if (value.is_array()) {
    for (const Json& item : value) out.push_back(metrics_in(item));
  } else {
    fail<ValueError>(label, "metrics must be names, objects or lists; got {}", excerpt(value));
  }
  return out;
}

/// Options of a LossScaleOptimizer.
Json loss_scale_in(const Json& config) {
  const LossScaleOptions options;
  const Json scale = value_of(config, "initial_scale"), steps = value_of(config, "dynamic_growth_steps");
  return {{"dynamic", true},
          {"initial_scale", scale.is_null() ? Json(options.initial_scale) : scale},
          {"growth_factor", options.growth_factor},
          {"backoff_factor", options.backoff_factor},
          {"growth_interval", steps.is_null() ? Json(options.growth_interval) : steps},
          {"floor", options.floor},
          {"cap", options.cap}};
}

Json optimizer_in(const Json& value, Json& loss_scale) {
  if (value.is_null()) fail<ValueError>(label, "optimizer must be given; got null");
  if (!is_object(value)) return object_in(KerasFamily::optimizer, value, label);
  if (keras_class(value, label) == "LossScaleOptimizer") {
    const Json& config = member(value, "config", label);
    loss_scale = loss_scale_in(config);
    return object_in(KerasFamily::optimizer, member(config, "inner_optimizer", label), label);
  }
  return object_in(KerasFamily::optimizer, value, label);
}

}  // namespace

Json keras_compile_in(const Json& given) {
  Json config = given;
  if (given.contains("optimizer_config")) config["optimizer"] = given["optimizer_config"];  // Keras 2
  static const auto* const known = new std::set<std::string>{
      "optimizer", "loss", "loss_weights", "metrics", "weighted_metrics", "optimizer_config",
      // Without effect on results:
      "run_eagerly", "steps_per_execution", "jit_compile", "auto_scale_loss", "sample_weight_mode"};
  for (const auto& item : config.items()) {
    if (known->count(item.key()) == 0 && !item.value().is_null()) {
      fail<ValueError>(label, "\"{}\" is not known to mezzo; got {}", printable_name(item.key()),
                       excerpt(item.value()));
    }
  }
  Json loss_scale;
  const Json optimizer = optimizer_in(value_of(config, "optimizer"), loss_scale);
  const auto number = [](const Json& value) { return value.is_null() ? Json(1.0) : value; };
  return {{"optimizer", optimizer},
          {"exclude_from_weight_decay", {{"var_list", Json::array()}, {"var_names", Json::array()}}},
          {"loss", per_output_in(value_of(config, "loss"), loss_in)},
          {"loss_weights", per_output_in(value_of(config, "loss_weights"), number)},
          {"metrics", metrics_in(value_of(config, "metrics"))},
          {"weighted_metrics", metrics_in(value_of(config, "weighted_metrics"))},
          {"loss_scale", loss_scale}};
}

}  // namespace mezzo::detail
