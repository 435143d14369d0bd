#include <mezzo/cli/section.hpp>

#include <cmath>
#include <limits>

#include <mezzo/cli/nearest.hpp>
#include <mezzo/cli/usage_error.hpp>

namespace mezzo::cli {
namespace {

[[noreturn]] void refuse(const std::string& what, const char* expected, const Json& got) {
  fail_usage("{} must be {}; got {}", what, expected, got.dump(-1, ' ', true, Json::error_handler_t::replace));
}

}  // namespace

Section::Section(Json& json, std::string where) : json_(json), where_(std::move(where)) {
  if (json_.is_null()) json_ = Json::object();
  if (!json_.is_object()) refuse(where_, "an object", json_);
}

const Json* Section::take(const char* name) {
  const auto found = json_.find(name);
  if (found == json_.end()) return nullptr;
  complete_[name] = *found;
  return &complete_[name];
}

Json& Section::raw(const char* name) {
  if (take(name) == nullptr) complete_[name] = nullptr;
  return complete_[name];
}

void Section::finish() {
  std::vector<std::string> known;
  for (const auto& item : complete_.items()) known.push_back(item.key());
  for (const auto& item : json_.items()) {
    if (complete_.contains(item.key())) continue;
    fail_unknown_name(where_, "key", item.key(), known);
  }
  json_ = std::move(complete_);
}

void Section::read(const Json& json, const std::string& what, bool& value) {
  if (!json.is_boolean()) refuse(what, "true or false", json);
  value = json.get<bool>();
}

void Section::read(const Json& json, const std::string& what, std::int64_t& value) {
  const bool fits = json.is_number_unsigned()
                        ? json.get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<std::int64_t>::max()}
                        : json.is_number_integer();
  if (!fits) refuse(what, "an integer", json);
  value = json.get<std::int64_t>();
}

void Section::read(const Json& json, const std::string& what, std::uint64_t& value) {
  if (!json.is_number_unsigned()) refuse(what, "an integer, at least 0", json);
  value = json.get<std::uint64_t>();
}

void Section::read(const Json& json, const std::string& what, int& value) {
  std::int64_t number = 0;
  read(json, what, number);
  if (number < std::numeric_limits<int>::min() || number > std::numeric_limits<int>::max()) {
    refuse(what, "an integer of 32 bits", json);
  }
  value = static_cast<int>(number);
}

void Section::read(const Json& json, const std::string& what, double& value) {
  if (!json.is_number()) refuse(what, "a number", json);
  value = json.get<double>();
}

void Section::read(const Json& json, const std::string& what, std::string& value) {
  if (!json.is_string()) refuse(what, "a text", json);
  value = json.get<std::string>();
}

void Section::read(const Json& json, const std::string& what, std::vector<std::string>& value) {
  if (json.is_string()) {
    value = {json.get<std::string>()};
    return;
  }
  if (!json.is_array()) refuse(what, "a list of texts", json);
  value.resize(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) read(json[i], fmt::format("{}.{}", what, i), value[i]);
}

void Section::read(const Json& json, const std::string& what, std::vector<std::int64_t>& value) {
  if (!json.is_array()) refuse(what, "a list of integers", json);
  value.resize(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) read(json[i], fmt::format("{}.{}", what, i), value[i]);
}

void Section::read(const Json& json, const std::string& what, DType& value) {
  std::string name;
  read(json, what, name);
  value = dtype_from_name(name);
}

void Section::read(const Json& json, const std::string& what, detail::BatchLimit& value) {
  if (json.is_number_float()) {
    value = json.get<double>();
    return;
  }
  std::int64_t batches = 0;
  read(json, what, batches);
  value = batches;
}

void Section::read(const Json& json, const std::string& what, detail::Duration& value) {
  if (json.is_string()) {
    value = json.get<std::string>();
  } else if (json.is_number()) {
    value = json.get<double>();
  } else {
    refuse(what, "seconds or a text \"DD:HH:MM:SS\"", json);
  }
}

void Section::read(const Json& json, const std::string& what, detail::CheckInterval& value) {
  if (json.is_string()) {
    value = json.get<std::string>();
  } else if (json.is_number_float()) {
    value = json.get<double>();
  } else {
    std::int64_t batches = 0;
    read(json, what, batches);
    value = batches;
  }
}

void Section::read(const Json& json, const std::string& what, Precision& value) {
  if (json.is_null()) {
    value = Precision();
  } else if (json.is_number_integer()) {
    value = json.get<int>();
  } else {
    std::string name;
    read(json, what, name);
    value = Precision(name);
  }
}

Json Section::write(const detail::CheckInterval& value) {
  if (value.seconds() == 0) return Json::parse(value.text());
  const auto seconds = static_cast<std::int64_t>(std::lround(value.seconds()));
  return fmt::format("{:02}:{:02}:{:02}:{:02}", seconds / 86400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
}

Json Section::write(const Precision& value) {
  if (value.automatic()) return value.int8_inside() ? "auto-int8" : "auto";
  return value.policy().inherits() ? Json(nullptr) : Json(value.policy().name());
}

}  // namespace mezzo::cli
