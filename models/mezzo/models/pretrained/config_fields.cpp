#include <mezzo/models/pretrained/config_fields.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/models/activation_names.hpp>
#include <mezzo/models/pretrained/common_keys.hpp>

namespace mezzo::detail {
namespace {

std::string text_of(const Json& json) { return json.is_string() ? json.dump() : excerpt(json); }

Json json_of(const std::variant<bool, std::int64_t, double, std::string>& value) {
  return std::visit([](const auto& one) { return Json(one); }, value);
}

}  // namespace

ConfigFields::ConfigFields(Json json, std::string where, const FromPretrainedOptions& options, std::int64_t most_layers)
    : json_(std::move(json)), where_(std::move(where)), options_(options), most_layers_(most_layers) {
  for (const auto& [key, value] : options.config) json_[key] = json_of(value);
}

ConfigFields::ConfigFields(std::vector<std::string> labels, std::string where)
    : json_(Json::object()), where_(std::move(where)), writes_(true), labels_(std::move(labels)) {}

const Json* ConfigFields::find(const char* key) {
  read_.insert(key);
  const auto found = json_.find(key);
  return found == json_.end() || found->is_null() ? nullptr : &*found;
}

void ConfigFields::write(const char* key, Json value) { json_[key] = std::move(value); }

void ConfigFields::refuse(const std::string& key, const std::string& expected) const {
  const auto found = json_.find(key);
  fail<FileError>(where_, "{} must be {}; got {}", path(key), expected,
                  found == json_.end() ? "none" : text_of(*found));
}

void ConfigFields::integer(const char* key, std::int64_t least, std::int64_t& value) {
  if (writes_) return write(key, value);
  read_.insert(key);
  const auto found = json_.find(key);
  if (found == json_.end()) {
    if (value > 0) default_sizes_.push_back(fmt::format("{} = {}", path(key), value));  // 0 stands for null
    return;
  }
  const bool fits = found->is_number_integer() && *found >= least && *found <= max_config_int;
  if (!fits) refuse(key, fmt::format("an integer from {} to {}", least, max_config_int));
  value = found->get<std::int64_t>();
}

void ConfigFields::size(const char* key, std::int64_t& value) { integer(key, 1, value); }

void ConfigFields::token(const char* key, std::int64_t& value) { integer(key, 0, value); }

void ConfigFields::size_or_null(const char* key, std::int64_t& value) {
  if (writes_) return write(key, value == 0 ? Json() : Json(value));
  const auto found = json_.find(key);
  if (found == json_.end() || !found->is_null()) return size(key, value);
  read_.insert(key);
  value = 0;
}

void ConfigFields::layers(const char* key, std::int64_t& value) {
  size(key, value);
  if (!writes_ && value > most_layers_) {
    refuse(key, fmt::format("at most {}, the number of tensors in the folder", most_layers_));
  }
}

void ConfigFields::number(const char* key, double& value) {
  if (writes_) return write(key, value);
  read_.insert(key);
  const auto found = json_.find(key);
  if (found == json_.end()) return;
  if (!found->is_number() || !std::isfinite(found->get<double>())) refuse(key, "a number");
  value = found->get<double>();
}

void ConfigFields::number_or_null(const char* key, std::optional<double>& value) {
  if (writes_) return write(key, value ? Json(*value) : Json());
  if (find(key) == nullptr) return;
  double number_there = 0;
  number(key, number_there);
  value = number_there;
}

void ConfigFields::flag(const char* key, bool& value) {
  if (writes_) return write(key, value);
  read_.insert(key);
  const auto found = json_.find(key);
  if (found == json_.end()) return;
  if (!found->is_boolean()) refuse(key, "true or false");
  value = found->get<bool>();
}

void ConfigFields::text(const char* key, std::string& value) {
  if (writes_) return write(key, value);
  read_.insert(key);
  const auto found = json_.find(key);
  if (found == json_.end()) return;
  if (!found->is_string()) refuse(key, "a text");
  value = found->get<std::string>();
}

void ConfigFields::choice(const char* key, std::string& value, const std::vector<std::string>& valid) {
  text(key, value);
  if (std::find(valid.begin(), valid.end(), value) == valid.end()) {
    if (writes_) fail<ValueError>(where_, "{} must be one of {}; got \"{}\"", key, fmt::join(valid, ", "), value);
    refuse(key, fmt::format("one of {}", fmt::join(valid, ", ")));
  }
}

void ConfigFields::activation(const char* key, std::string& value) { choice(key, value, activation_names()); }

void ConfigFields::fixed(const char* key, const Json& value) { one_of(key, std::vector<Json>(1, value)); }

void ConfigFields::one_of(const char* key, const std::vector<Json>& values) {
  if (writes_) return;
  read_.insert(key);
  const auto found = json_.find(key);
  if (found == json_.end() || std::find(values.begin(), values.end(), *found) != values.end()) return;
  std::vector<std::string> texts;
  for (const Json& value : values) texts.push_back(text_of(value));
  refuse(key, fmt::format("{}", fmt::join(texts, " or ")));
}

void ConfigFields::ignore(std::initializer_list<const char*> keys) { ignored_.insert(keys.begin(), keys.end()); }

void ConfigFields::object(const char* key, const std::function<void(ConfigFields&)>& describe) {
  if (writes_) {
    ConfigFields inner({}, where_);
    inner.path_ = path(key) + ".";
    describe(inner);
    if (!inner.json_.empty()) write(key, std::move(inner.json_));
    return;
  }
  const Json* const found = find(key);
  if (found == nullptr) return;
  if (!found->is_object()) refuse(key, "an object");
  ConfigFields inner(*found, where_, {}, most_layers_);
  inner.path_ = path(key) + ".";
  describe(inner);
  inner.refuse_unknown_keys();
}

void ConfigFields::refuse_unknown_keys() const {
  for (const auto& [key, value] : json_.items()) {
    if (read_.count(key) > 0 || ignored_.count(key) > 0) continue;
    fail<FileError>(where_, "unknown key {}; known keys: {}", path(key), fmt::join(read_, ", "));
  }
}

void ConfigFields::pooling_layer(bool& value) {
  used_pooling_ = true;
  if (!writes_ && options_.add_pooling_layer) value = *options_.add_pooling_layer;
}

void ConfigFields::check_options(const std::string& kind) const {
  if (options_.num_labels && !used_labels_) {
    fail<ValueError>(where_, "num_labels is for classifiers; got {} for {}", *options_.num_labels, kind);
  }
  if (options_.add_pooling_layer && !used_pooling_) {
    fail<ValueError>(where_, "add_pooling_layer is for encoders without head; got {} for {}",
                     *options_.add_pooling_layer, kind);
  }
  if (writes_ && !labels_.empty() && !used_labels_) {
    fail<ValueError>(where_, "labels are for classifiers; got {} for {}", labels_.size(), kind);
  }
  for (const auto& [key, value] : options_.config) {
    if (read_.count(key) > 0) continue;
    fail<ValueError>(where_, "config may have keys with an effect on {}: {}; got {}", kind, fmt::join(read_, ", "),
                     key);
  }
}

Json ConfigFields::merged_into(Json config) const {
  config.update(json_);
  for (const std::string& key : dropped_) config.erase(key);
  return config;
}

std::vector<std::string> ConfigFields::unknown_keys() const {
  std::vector<std::string> out;
  for (const auto& [key, value] : json_.items()) {
    if (read_.count(key) == 0 && ignored_.count(key) == 0 && !is_common_key(key)) out.push_back(key);
  }
  return out;
}

}  // namespace mezzo::detail
