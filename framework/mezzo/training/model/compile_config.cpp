#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/model/compile_json.hpp>
#include <mezzo/training/model/model_config.hpp>

namespace mezzo::detail {
namespace {

constexpr const char* compile_label = "[compile config]";

template <class T, class Write>
Json write_per_output(const PerOutput<T>& given, const Write& write) {
  if (given.empty()) return nullptr;
  Json list = Json::array(), named = Json::array();
  for (const T& value : given.list) list.push_back(write(value));
  for (const auto& [name, value] : given.named) named.push_back({name, write(value)});
  if (!given.named.empty()) return {{"by_name", named}};
  return given.for_all ? Json{{"for_all", list.front()}} : Json{{"list", list}};
}

template <class T, class Read>
PerOutput<T> read_per_output(const Json& json, const Read& read) {
  PerOutput<T> out;
  if (json.is_null()) return out;
  if (!json.is_object() || json.size() != 1) {
    fail<ValueError>(compile_label, "must be for_all, list or by_name; got {}", excerpt(json));
  }
  if (const auto one = json.find("for_all"); one != json.end()) {
    out.list.push_back(read(*one));
    out.for_all = true;
    return out;
  }
  const auto list = json.find("list"), named = json.find("by_name");
  const Json& items = list != json.end() ? *list : member(json, "by_name", compile_label);
  if (!items.is_array()) fail<ValueError>(compile_label, "must be a list; got {}", excerpt(items));
  for (const Json& item : items) {
    if (named == json.end()) {
      out.list.push_back(read(item));
      continue;
    }
    if (!item.is_array() || item.size() != 2)
      fail<ValueError>(compile_label, "must be [name, value]; got {}", excerpt(item));
    out.named.emplace_back(read_string(item[0], compile_label), read(item[1]));
  }
  return out;
}

Json write_metrics(const Metrics& metrics) {
  if (metrics.is_list()) {
    Json out = Json::array();
    for (const Metrics& item : metrics.items()) out.push_back(write_metrics(item));
    return out;
  }
  if (!metrics.name().empty()) return metrics.name();
  return metrics.is_metric() ? write_object(metrics.metric()) : Json(nullptr);
}

Metrics read_metrics(const Json& json) {
  const ConfigDepth depth;
  if (json.is_null()) return {};
  if (json.is_string()) return json.get<std::string>();
  if (json.is_object()) return read_object<Metric>(json);
  if (!json.is_array())
    fail<ValueError>(compile_label, "metrics must be names, objects or lists; got {}", excerpt(json));
  std::vector<Metrics> items;
  for (const Json& item : json) items.push_back(read_metrics(item));
  return items;
}

Json write_loss_scale(const std::optional<LossScaleOptions>& scale) {
  if (!scale) return nullptr;
  return {{"dynamic", scale->dynamic},
          {"initial_scale", write_double(scale->initial_scale)},
          {"growth_factor", write_double(scale->growth_factor)},
          {"backoff_factor", write_double(scale->backoff_factor)},
          {"growth_interval", scale->growth_interval},
          {"floor", write_double(scale->floor)},
          {"cap", write_double(scale->cap)}};
}

std::optional<LossScaleOptions> read_loss_scale(const Json& json) {
  if (json.is_null()) return {};
  const auto number = [&](const char* name) { return read_double(member(json, name, compile_label), compile_label); };
  return LossScaleOptions{.dynamic = read_bool(member(json, "dynamic", compile_label), compile_label),
                          .initial_scale = number("initial_scale"),
                          .growth_factor = number("growth_factor"),
                          .backoff_factor = number("backoff_factor"),
                          .growth_interval = read_int(member(json, "growth_interval", compile_label), compile_label),
                          .floor = number("floor"),
                          .cap = number("cap")};
}

/// Choice of Optimizer::exclude_from_weight_decay().
Json write_exclusions(const Optimizer& optimizer, const Layer& model) {
  const Optimizer::State& state = *optimizer.state();
  Json paths = Json::array();
  for (const auto& [path, weight] : model.named_weights()) {
    for (const auto& excluded : state.excluded) {
      if (excluded.get() == weight.state().get()) paths.push_back(path);
    }
  }
  return {{"var_list", paths}, {"var_names", state.excluded_names}};
}

void read_exclusions(const Json& json, Optimizer& optimizer, const Layer& model) {
  ExcludeOptions options;
  const auto weights = model.named_weights();
  const auto texts = [&](const char* name) {
    std::vector<std::string> out;
    const Json& list = member(json, name, compile_label);
    if (!list.is_array()) fail<ValueError>(compile_label, "{} must be a list; got {}", name, excerpt(list));
    for (const Json& item : list) out.push_back(read_string(item, compile_label));
    return out;
  };
  for (const std::string& path : texts("var_list")) {
    const auto found =
        std::find_if(weights.begin(), weights.end(), [&](const auto& entry) { return entry.first == path; });
    if (found == weights.end())
      fail<NameError>(compile_label, "var_list names \"{}\", which is no weight of the model", path);
    options.var_list.push_back(found->second);
  }
  options.var_names = texts("var_names");
  if (!options.var_list.empty() || !options.var_names.empty()) optimizer.exclude_from_weight_decay(options);
}

}  // namespace

Json write_compile(const CompileOptions& options, const Layer& model) {
  const auto number = [](double value) { return write_double(value); };
  return {{"optimizer", write_object(options.optimizer)},
          {"exclude_from_weight_decay", write_exclusions(*options.optimizer, model)},
          {"loss", write_per_output(options.loss, write_object<Loss>)},
          {"loss_weights", write_per_output(options.loss_weights, number)},
          {"metrics", write_metrics(options.metrics)},
          {"weighted_metrics", write_metrics(options.weighted_metrics)},
          {"loss_scale", write_loss_scale(options.loss_scale)}};
}

CompileOptions read_compile(const Json& json, const Layer& model) {
  const auto number = [](const Json& value) { return read_double(value, compile_label); };
  CompileOptions options;
  options.optimizer = read_object<Optimizer>(member(json, "optimizer", compile_label));
  if (!options.optimizer) fail<ValueError>(compile_label, "optimizer must be given; got null");
  options.loss = read_per_output<Any<Loss>>(member(json, "loss", compile_label), read_object<Loss>);
  options.loss_weights = read_per_output<double>(member(json, "loss_weights", compile_label), number);
  options.metrics = read_metrics(member(json, "metrics", compile_label));
  options.weighted_metrics = read_metrics(member(json, "weighted_metrics", compile_label));
  options.loss_scale = read_loss_scale(member(json, "loss_scale", compile_label));
  read_exclusions(member(json, "exclude_from_weight_decay", compile_label), *options.optimizer, model);
  return options;
}

namespace {

/// Values for the outputs in the short forms of configuration files.
template <class T, class Read>
PerOutput<T> read_short_form(const Json& json, const Read& read) {
  if (json.is_array()) return read_per_output<T>({{"list", json}}, read);
  const bool long_form = json.is_object() && !json.contains("class_name");
  return read_per_output<T>(json.is_null() || long_form ? json : Json{{"for_all", json}}, read);
}

}  // namespace
}  // namespace mezzo::detail

namespace mezzo {

CompileOptions compile_options_from_json(const std::string& text) {
  using namespace detail;  // NOLINT(google-build-using-namespace): the readers of configs
  constexpr const char* where = "[compile]";
  const std::vector<std::string> known{"optimizer", "loss", "loss_weights", "metrics", "weighted_metrics"};
  const Json json = parse_config(text, where);
  CompileOptions options;
  for (const auto& item : json.items()) {
    const std::string& name = item.key();
    const Json& value = item.value();
    if (name == "optimizer") {
      options.optimizer = read_object<Optimizer>(value);
      if (!options.optimizer) fail<ValueError>(where, "optimizer must be given; got null");
    } else if (name == "loss") {
      options.loss = read_short_form<Any<Loss>>(value, read_object<Loss>);
    } else if (name == "loss_weights") {
      options.loss_weights =
          read_short_form<double>(value, [](const Json& one) { return read_double(one, "[compile] loss_weights"); });
    } else if (name == "metrics") {
      options.metrics = read_metrics(value);
    } else if (name == "weighted_metrics") {
      options.weighted_metrics = read_metrics(value);
    } else {
      fail_unknown(where, "member", name, known);
    }
  }
  return options;
}

std::string compile_options_to_json(const CompileOptions& options) {
  using namespace detail;  // NOLINT(google-build-using-namespace): the writers of configs
  constexpr const char* where = "[compile]";
  const Optimizer::State& state = *options.optimizer->state();
  if (!state.excluded.empty() || !state.excluded_names.empty()) {
    fail<ValueError>(where, "a choice of exclude_from_weight_decay() can't be written");
  }
  if (options.loss_scale) fail<ValueError>(where, "a loss_scale can't be written; give it to the Trainer");
  return Json{{"optimizer", write_object(options.optimizer)},
              {"loss", write_per_output(options.loss, write_object<Loss>)},
              {"loss_weights", write_per_output(options.loss_weights, write_double)},
              {"metrics", write_metrics(options.metrics)},
              {"weighted_metrics", write_metrics(options.weighted_metrics)}}
      .dump(2);
}

}  // namespace mezzo
