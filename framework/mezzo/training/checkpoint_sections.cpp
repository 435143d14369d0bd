#include <mezzo/training/checkpoint_sections.hpp>

#include <charconv>

#include <mezzo/core/fail.hpp>
#include <nlohmann/json.hpp>

namespace mezzo::detail {
namespace {

using Json = nlohmann::json;

[[noreturn]] void refuse(const std::string& text) {
  fail<ValueError>("", "a section must be as save_checkpoint writes it; got {}", text.substr(0, 100));
}

template <class Number>
Number number_in(const Json& json) {
  const auto* const text = json.get_ptr<const std::string*>();
  Number out{};
  if (text == nullptr) refuse(json.dump(-1, ' ', true));
  const char* const end = text->data() + text->size();
  const auto result = std::from_chars(text->data(), end, out);
  if (result.ec != std::errc() || result.ptr != end) refuse(*text);
  return out;
}

Json parsed(const std::string& text) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) refuse(text);
  return json;
}

const Json& list_in(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_array()) refuse(json.dump(-1, ' ', true));
  return *found;
}

}  // namespace

std::string text_of(const EpochNumbers& epoch) {
  Json means = Json::array(), skipped = Json::array();
  for (const Means::Entry& entry : epoch.means) {
    means.push_back({entry.name, entry.prog_bar, fmt::format("{}", entry.total), fmt::format("{}", entry.samples)});
  }
  for (const std::int64_t count : epoch.skipped_before) skipped.push_back(fmt::to_string(count));
  return Json{{"means", means}, {"skipped_before", skipped}}.dump();
}

EpochNumbers epoch_numbers_from(const std::string& text) {
  const Json json = parsed(text);
  EpochNumbers out;
  for (const Json& entry : list_in(json, "means")) {
    if (!entry.is_array() || entry.size() != 4 || !entry[0].is_string() || !entry[1].is_boolean()) refuse(text);
    out.means.push_back(
        {entry[0].get<std::string>(), entry[1].get<bool>(), number_in<double>(entry[2]), number_in<double>(entry[3])});
  }
  for (const Json& count : list_in(json, "skipped_before")) {
    out.skipped_before.push_back(number_in<std::int64_t>(count));
    constexpr std::int64_t largest = std::int64_t{1} << 53;  // as other counters: differences can't overflow
    if (out.skipped_before.back() < 0 || out.skipped_before.back() > largest) refuse(text);
  }
  return out;
}

std::string text_of(const CallbackNumbers& callbacks) {
  Json json = Json::object();
  for (const auto& [name, numbers] : callbacks) {
    Json& section = json[name] = Json::object();
    for (const auto& [key, number] : numbers) section[key] = fmt::format("{}", number);
  }
  return json.dump();
}

CallbackNumbers callback_numbers_from(const std::string& text) {
  CallbackNumbers out;
  const Json json = parsed(text);
  for (const auto& [name, section] : json.items()) {
    if (!section.is_object()) refuse(text);
    for (const auto& [key, number] : section.items()) out[name][key] = number_in<double>(number);
    out[name];
  }
  return out;
}

}  // namespace mezzo::detail
