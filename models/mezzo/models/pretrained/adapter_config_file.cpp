#include <mezzo/models/pretrained/adapter_config_file.hpp>

#include <algorithm>
#include <stdexcept>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/pattern.hpp>

namespace mezzo::detail {
namespace {

constexpr std::int64_t most_rank = std::int64_t{1} << 24;
constexpr std::size_t most_patterns = 10'000;

const Json* value_in(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found == json.end() || found->is_null() ? nullptr : &*found;
}

[[noreturn]] void refuse(const std::string& where, const std::string& key, const std::string& expected,
                         const Json& got) {
  fail<FileError>(where, "{} must be {}; got {}", key, expected, excerpt(got));
}

/// Throws unless the key is missing, null, or one of these values.
void require_one_of(const Json& json, const char* key, const std::vector<Json>& values, const std::string& expected,
                    const std::string& where) {
  const Json* const found = value_in(json, key);
  if (found == nullptr || std::find(values.begin(), values.end(), *found) != values.end()) return;
  refuse(where, key, expected, *found);
}

std::int64_t rank_in(const Json& json, const std::string& key, const std::string& where) {
  if (!json.is_number_integer()) refuse(where, key, "an integer from 1 on", json);
  const double value = json.get<double>();
  if (!(value >= 1 && value <= static_cast<double>(most_rank))) refuse(where, key, "an integer from 1 on", json);
  return static_cast<std::int64_t>(value);
}

double number_in(const Json& json, const std::string& key, const std::string& where) {
  if (!json.is_number()) refuse(where, key, "a number", json);
  return json.get<double>();  // JSON has neither NaN nor infinity
}

bool flag_in(const Json& json, const char* key, const std::string& where) {
  const Json* const found = value_in(json, key);
  if (found == nullptr) return false;
  if (!found->is_boolean()) refuse(where, key, "true or false", *found);
  return found->get<bool>();
}

/// Throws for a text that isn't a regular expression of RE2.
void check_expression(const std::string& text, const std::string& key, const std::string& where) {
  try {
    const Pattern valid(text);
  } catch (const std::runtime_error& error) {
    fail<FileError>(where, "{} must be a regular expression of RE2; got {} ({})", key, excerpt(Json(text)),
                    error.what());
  }
}

std::string ending_pattern(const std::string& expression) { return "(?:.*\\.)?(?:" + expression + ")"; }

/// Items of a pattern by expression.
template <class Read>
auto read_pattern(const Json& json, const char* key, const std::string& where, Read read) {
  std::vector<std::pair<std::string, decltype(read(json, std::string()))>> out;
  const Json* const found = value_in(json, key);
  if (found == nullptr) return out;
  if (!found->is_object() || found->size() > most_patterns) refuse(where, key, "an object of names", *found);
  for (const auto& item : found->items()) {
    const std::string name = fmt::format("{} \"{}\"", key, item.key().substr(0, 80));
    check_expression(ending_pattern(item.key()), name, where);
    out.emplace_back(item.key(), read(item.value(), name));
  }
  return out;
}

template <class Value>
Value value_of(const std::vector<std::pair<std::string, Value>>& patterns, const std::string& module, Value otherwise) {
  for (const auto& [expression, value] : patterns) {
    if (Pattern(ending_pattern(expression)).matches(module)) return value;
  }
  return otherwise;
}

void read_targets(const Json& json, PeftConfig& config, const std::string& where) {
  const Json* const found = value_in(json, "target_modules");
  if (found == nullptr) refuse(where, "target_modules", "a list of names or a regular expression", nullptr);
  if (found->is_string()) {
    const std::string text = found->get<std::string>();
    if (text == "all-linear") {
      config.all_targets = false;
      return;
    }
    check_expression(text, "target_modules", where);
    config.expression = text;
    return;
  }
  if (!found->is_array()) refuse(where, "target_modules", "a list of names or a regular expression", *found);
  for (const Json& item : *found) {
    if (!item.is_string()) refuse(where, "target_modules", "a list of names", *found);
    config.targets.push_back(item.get<std::string>());
  }
}

/// Keys with which PEFT computes something else, or whose tensors are others.
void refuse_variants(const Json& json, const std::string& where) {
  const Json no = false, none = Json::array(), empty = Json::object(), zero = 0;
  for (const char* key : {"use_dora", "lora_bias", "use_qalora", "use_bdlora", "alora_invocation_tokens"}) {
    require_one_of(json, key, {no, none}, "false", where);
  }
  for (const char* key : {"modules_to_save", "target_parameters", "trainable_token_indices", "layer_replication",
                          "arrow_config", "lora_ga_config"}) {
    require_one_of(json, key, {none, empty}, "null", where);
  }
  // The others change the base model: their adapters belong to other weights.
  require_one_of(json, "init_lora_weights", {true, false, "gaussian", "eva", "orthogonal"},
                 "true, false, \"gaussian\", \"eva\" or \"orthogonal\", which leave the base model as it is", where);
}

}  // namespace

std::int64_t PeftConfig::rank_of(const std::string& module) const { return value_of(ranks, module, rank); }

double PeftConfig::alpha_of(const std::string& module) const { return value_of(alphas, module, alpha); }

bool PeftConfig::is_target(const std::string& module) const {
  if (expression) return Pattern(*expression).matches(module);
  return std::any_of(targets.begin(), targets.end(), [&](const std::string& target) {
    const std::string end = "." + target;
    return module == target ||
           (module.size() > end.size() && module.compare(module.size() - end.size(), end.size(), end) == 0);
  });
}

PeftConfig read_peft_config(const Json& json, const std::string& where) {
  const Json* const type = value_in(json, "peft_type");
  if (type == nullptr || *type != "LORA") refuse(where, "peft_type", "\"LORA\"", type == nullptr ? Json() : *type);
  refuse_variants(json, where);
  require_one_of(json, "bias", {"none"}, "\"none\"", where);
  static_cast<void>(flag_in(json, "fan_in_fan_out", where));  // the layout of the kernel, not of A and B
  PeftConfig config;
  config.use_rslora = flag_in(json, "use_rslora", where);
  if (const Json* const rank = value_in(json, "r")) config.rank = rank_in(*rank, "r", where);
  if (const Json* const alpha = value_in(json, "lora_alpha")) config.alpha = number_in(*alpha, "lora_alpha", where);
  if (const Json* const rate = value_in(json, "lora_dropout")) config.dropout = number_in(*rate, "lora_dropout", where);
  if (!(config.dropout >= 0 && config.dropout < 1)) {
    refuse(where, "lora_dropout", "in [0, 1)", json.at("lora_dropout"));
  }
  config.ranks = read_pattern(json, "rank_pattern", where,
                              [&](const Json& value, const std::string& name) { return rank_in(value, name, where); });
  config.alphas = read_pattern(json, "alpha_pattern", where, [&](const Json& value, const std::string& name) {
    return number_in(value, name, where);
  });
  read_targets(json, config, where);
  if (value_in(json, "layers_to_transform") != nullptr || value_in(json, "exclude_modules") != nullptr) {
    config.all_targets = false;
  }
  return config;
}

}  // namespace mezzo::detail
