#include <mezzo/training/checkpoints/checkpoint_sections.hpp>

#include <algorithm>
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

/// A counter. As for the other counters, differences can't overflow.
std::int64_t count_in(const Json& json) {
  constexpr std::int64_t largest = std::int64_t{1} << 53;
  const auto count = number_in<std::int64_t>(json);
  if (count < 0 || count > largest) refuse(json.dump(-1, ' ', true));
  return count;
}

LogTargets targets_in(const Json& entry, const std::string& text) {
  const Json& flags = entry[4];
  const bool known = flags.is_array() && (flags.size() == 3 || flags.size() == 4) &&
                     std::all_of(flags.begin(), flags.end(), [](const Json& flag) { return flag.is_boolean(); });
  const auto reduction = number_in<int>(entry[5]);
  if (!known || reduction < 0 || reduction > static_cast<int>(Reduction::max)) refuse(text);
  return {.prog_bar = entry[1].get<bool>(),
          .history = flags[0].get<bool>(),
          .logger_step = flags[1].get<bool>(),
          .logger_epoch = flags[2].get<bool>(),
          .reduction = static_cast<Reduction>(reduction)};
}

}  // namespace

std::string text_of(const EpochNumbers& epoch) {
  Json means = Json::array(), skipped = Json::array(), validated = Json::array();
  for (const Means::Entry& entry : epoch.means) {
    const LogTargets& to = entry.targets;
    Json item{entry.name, to.prog_bar, fmt::format("{}", entry.total), fmt::format("{}", entry.samples)};
    item.push_back({to.history, to.logger_step, to.logger_epoch});
    if (entry.of_hook) item.back().push_back(true);
    item.push_back(fmt::to_string(static_cast<int>(to.reduction)));
    item.push_back(fmt::format("{}", entry.last));
    means.push_back(std::move(item));
  }
  for (const std::int64_t count : epoch.skipped_before) skipped.push_back(fmt::to_string(count));
  for (const auto& [name, number] : epoch.validated) validated.push_back({name, fmt::format("{}", number)});
  return Json{{"means", means},
              {"skipped_before", skipped},
              {"validated", validated},
              {"validated_at", fmt::to_string(epoch.validated_at)}}
      .dump();
}

EpochNumbers epoch_numbers_from(const std::string& text) {
  const Json json = parsed(text);
  EpochNumbers out;
  for (const Json& entry : list_in(json, "means")) {
    const bool known = entry.is_array() && entry.size() == 7;
    if (!known || !entry[0].is_string() || !entry[1].is_boolean()) refuse(text);
    Means::Entry& mean = out.means.emplace_back();
    mean.name = entry[0].get<std::string>();
    mean.total = number_in<double>(entry[2]);
    mean.samples = number_in<double>(entry[3]);
    mean.targets = targets_in(entry, text);
    mean.last = number_in<double>(entry[6]);
    mean.of_hook = entry[4].size() == 4 && entry[4][3].get<bool>();
  }
  for (const Json& count : list_in(json, "skipped_before")) out.skipped_before.push_back(count_in(count));
  if (json.contains("validated")) {
    for (const Json& entry : list_in(json, "validated")) {
      if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string()) refuse(text);
      out.validated.emplace_back(entry[0].get<std::string>(), number_in<double>(entry[1]));
    }
    if (!json.contains("validated_at")) refuse(text);
    out.validated_at = count_in(json["validated_at"]);
  }
  return out;
}

std::string text_of(const std::vector<std::int64_t>& counts) {
  Json list = Json::array();
  for (const std::int64_t count : counts) list.push_back(fmt::to_string(count));
  return Json{{"counts", list}}.dump();
}

std::vector<std::int64_t> counts_from(const std::string& text) {
  std::vector<std::int64_t> out;
  const Json json = parsed(text);
  for (const Json& count : list_in(json, "counts")) out.push_back(count_in(count));
  return out;
}

std::string text_of(const SchedulerState& scheduler) {
  Json json{{"steps", fmt::to_string(scheduler.steps)},
            {"waits", fmt::to_string(scheduler.waits)},
            {"cooldown", fmt::to_string(scheduler.cooldown)},
            {"waiting", scheduler.waiting}};
  if (scheduler.number) json["number"] = fmt::format("{}", *scheduler.number);
  if (scheduler.best) json["best"] = fmt::format("{}", *scheduler.best);
  if (scheduler.active > 0) json["active"] = fmt::to_string(scheduler.active);
  return json.dump();
}

SchedulerState scheduler_state_from(const std::string& text) {
  const Json json = parsed(text);
  for (const char* name : {"steps", "waits", "cooldown", "waiting"}) {
    if (!json.contains(name)) refuse(text);
  }
  if (!json["waiting"].is_boolean()) refuse(text);
  const auto optional = [&](const char* name) {
    return json.contains(name) ? std::optional<double>(number_in<double>(json[name])) : std::nullopt;
  };
  return {.active = json.contains("active") ? static_cast<std::size_t>(count_in(json["active"])) : 0,
          .steps = count_in(json["steps"]),
          .number = optional("number"),
          .best = optional("best"),
          .waits = count_in(json["waits"]),
          .cooldown = count_in(json["cooldown"]),
          .waiting = json["waiting"].get<bool>()};
}

std::string text_of(const LoaderFingerprint& data) {
  return Json{{"samples", fmt::to_string(data.samples)},
              {"fields", data.fields},
              {"order", data.order},
              {"batch_size", fmt::to_string(data.batch_size)},
              {"drop_last", data.drop_last}}
      .dump(-1, ' ', true);
}

LoaderFingerprint fingerprint_from(const std::string& text) {
  const Json json = parsed(text);
  const auto known = [&](const char* key, bool (Json::*is)() const noexcept) {
    return json.contains(key) && (json[key].*is)();
  };
  if (!json.contains("samples") || !json.contains("batch_size") || !known("fields", &Json::is_string) ||
      !known("order", &Json::is_string) || !known("drop_last", &Json::is_boolean)) {
    refuse(text);
  }
  return {.samples = count_in(json["samples"]),
          .fields = json["fields"].get<std::string>(),
          .order = json["order"].get<std::string>(),
          .batch_size = count_in(json["batch_size"]),
          .drop_last = json["drop_last"].get<bool>()};
}

std::string text_of(const Hyperparameters& parameters) {
  Json json = Json::array();
  for (const auto& [name, parameter] : parameters) {
    const auto add = [&json, &key = name](const char* type, const Json& value) { json.push_back({key, type, value}); };
    const auto& value = parameter.value();
    if (const bool* flag = std::get_if<bool>(&value)) add("bool", *flag);
    if (const auto* number = std::get_if<std::int64_t>(&value)) add("int", fmt::to_string(*number));
    if (const double* number = std::get_if<double>(&value)) add("float", fmt::format("{}", *number));
    if (const auto* text = std::get_if<std::string>(&value)) add("str", *text);
  }
  return Json{{"hyperparameters", json}}.dump(-1, ' ', true);
}

Hyperparameters hyperparameters_from(const std::string& text) {
  const Json json = parsed(text);
  Hyperparameters out;
  for (const Json& entry : list_in(json, "hyperparameters")) {
    const bool known = entry.is_array() && entry.size() == 3 && entry[0].is_string() && entry[1].is_string();
    if (!known || !(entry[2].is_string() || entry[2].is_boolean())) refuse(text);
    const auto name = entry[0].get<std::string>(), type = entry[1].get<std::string>();
    if (entry[2].is_boolean() != (type == "bool")) refuse(text);
    if (type == "bool") {
      out.emplace_back(name, entry[2].get<bool>());
    } else if (type == "int") {
      out.emplace_back(name, number_in<std::int64_t>(entry[2]));
    } else if (type == "float") {
      out.emplace_back(name, number_in<double>(entry[2]));
    } else if (type == "str") {
      out.emplace_back(name, entry[2].get<std::string>());
    } else {
      refuse(text);
    }
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

std::string text_of(const CallbackTexts& callbacks) { return Json(callbacks).dump(-1, ' ', true); }

CallbackTexts callback_texts_from(const std::string& text) {
  CallbackTexts out;
  const Json json = parsed(text);
  for (const auto& [name, section] : json.items()) {
    if (!section.is_object()) refuse(text);
    for (const auto& [key, value] : section.items()) {
      if (!value.is_string()) refuse(text);
      out[name][key] = value.get<std::string>();
    }
  }
  return out;
}

}  // namespace mezzo::detail
