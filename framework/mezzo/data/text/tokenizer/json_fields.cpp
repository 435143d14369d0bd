#include <mezzo/data/text/tokenizer/json_fields.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/text/utf8.hpp>

namespace mezzo::detail {
namespace {

using Json = nlohmann::json;

constexpr int deepest_json = 64;

std::string excerpt(const Json& json) {
  constexpr std::size_t longest = 60;  // in bytes
  if (json.is_object() || json.is_array()) return fmt::format("an {} of {}", json.type_name(), json.size());
  std::string text = json.dump();
  if (text.size() > longest) text = text.substr(0, longest) + "...";
  return text;
}

}  // namespace

Json parse_tokenizer_json(std::string_view text, const std::string& where) {
  try {
    return Json::parse(text.begin(), text.end(), [&](int depth, Json::parse_event_t, Json&) {
      if (depth > deepest_json) fail<FileError>(where, "lists and objects must be at most {} deep", deepest_json);
      return true;
    });
  } catch (const Json::exception& error) {
    fail<FileError>(where, "the file must be JSON: {}", error.what());
  }
}

JsonFields::JsonFields(const Json& json, const std::string& where, std::string path)
    : json_(&json), where_(where), path_(std::move(path)) {
  if (!json.is_object()) {
    fail<FileError>(where_, "{} must be an object; got {}", path_.empty() ? "the file" : path_, excerpt(json));
  }
}

std::string JsonFields::path(const std::string& name) const { return path_.empty() ? name : path_ + "." + name; }

bool JsonFields::has(const std::string& name) {
  known_.insert(name);
  const auto found = json_->find(name);
  return found != json_->end() && !found->is_null();
}

const Json& JsonFields::member(const std::string& name) {
  if (!has(name)) fail<FileError>(where_, "{} must be given; got none", path(name));
  return *json_->find(name);
}

JsonFields JsonFields::object(const std::string& name) { return {member(name), where_, path(name)}; }

std::vector<JsonFields> JsonFields::objects(const std::string& name) {
  const Json& list = member(name);
  if (!list.is_array()) refuse(name, "a list");
  std::vector<JsonFields> out;
  for (std::size_t i = 0; i < list.size(); ++i) out.emplace_back(list[i], where_, fmt::format("{}[{}]", path(name), i));
  return out;
}

std::string JsonFields::text(const std::string& name) {
  const Json& value = member(name);
  if (!value.is_string()) refuse(name, "a text");
  return value.get<std::string>();
}

std::string JsonFields::text(const std::string& name, const std::string& otherwise) {
  return has(name) ? text(name) : otherwise;
}

bool JsonFields::flag(const std::string& name) {
  const Json& value = member(name);
  if (!value.is_boolean()) refuse(name, "true or false");
  return value.get<bool>();
}

bool JsonFields::flag(const std::string& name, bool otherwise) { return has(name) ? flag(name) : otherwise; }

char32_t JsonFields::character(const std::string& name) {
  const std::u32string characters = decode_utf8(text(name));
  if (characters.size() != 1) refuse(name, "one character");
  return characters[0];
}

std::int64_t JsonFields::count(const std::string& name, std::int64_t most) {
  const Json& value = member(name);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > static_cast<std::uint64_t>(most)) {
    refuse(name, fmt::format("an integer in [0, {}]", most));
  }
  return value.get<std::int64_t>();
}

std::int64_t JsonFields::count(const std::string& name, std::int64_t most, std::int64_t otherwise) {
  return has(name) ? count(name, most) : otherwise;
}

std::size_t JsonFields::choice(const std::string& name, const std::vector<std::string>& names) {
  const std::string value = text(name);
  const auto found = std::find(names.begin(), names.end(), value);
  if (found == names.end()) {
    fail<FileError>(where_, "unknown {} \"{}\"; valid names: {}", path(name), value, fmt::join(names, ", "));
  }
  return static_cast<std::size_t>(found - names.begin());
}

void JsonFields::done() const {
  for (const auto& [name, value] : json_->items()) {
    if (known_.count(name) > 0) continue;
    fail<FileError>(where_, "unknown member \"{}\"; known members: {}", path(name), fmt::join(known_, ", "));
  }
}

void JsonFields::refuse(const std::string& name, const std::string& expected) const {
  fail<FileError>(where_, "{} must be {}; got {}", path(name), expected, excerpt(json_->at(name)));
}

}  // namespace mezzo::detail
