#include <mezzo/cli/config_file.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <mezzo/cli/nearest.hpp>
#include <mezzo/cli/saved_run.hpp>
#include <mezzo/cli/usage_error.hpp>
#include <mezzo/core/error.hpp>
#include <mezzo/io/check_path.hpp>
#include <mezzo/training/model/compile_json.hpp>

namespace mezzo::cli {
namespace {

/// Key of a path in an object or list. A UsageError for a list without that item.
Json& step_into(Json& at, const std::string& key, const std::string& path) {
  if (!at.is_array()) return at[key];
  const bool number = !key.empty() && key.size() < 9 &&
                      std::all_of(key.begin(), key.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!number || std::stoul(key) >= at.size()) {
    fail_usage("--{}: \"{}\" must be the number of one of {} items, from 0", path, key, at.size());
  }
  return at[std::stoul(key)];
}

void set_member(Json& config, const std::string& path, const std::string& text) {
  const std::string top = path.substr(0, path.find('.'));
  if (std::find(section_names().begin(), section_names().end(), top) == section_names().end()) {
    fail_usage("unknown option --{}{}", path, nearest_option(top, section_names()));
  }
  if (top == "optimizer" && path != top && (!config.contains(top) || config[top].is_string())) {
    Json named = Json::object();  // a name becomes an object with all options
    if (config.contains(top)) named[top] = config[top];
    config[top] = Json::parse(compile_options_to_json(compile_options_from_json(named.dump())))[top];
  }
  Json* at = &config;
  std::size_t begin = 0;
  while (begin <= path.size()) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    if (!at->is_structured() && !at->is_null()) {
      fail_usage("--{}: \"{}\" must be an object to have members; got {}", path, path.substr(0, begin - 1), at->dump());
    }
    at = &step_into(*at, path.substr(begin, end - begin), path);
    begin = end + 1;
  }
  const Json value = Json::parse(text, nullptr, false);
  *at = value.is_discarded() ? Json(text) : value;
}

/// Sets a member, which has no line then: 0.
void override_member(ConfigFile& config, const std::string& path, const std::string& text) {
  set_member(config.json, path, text);
  const auto inner = config.lines.lower_bound(path + ".");
  auto end = inner;
  while (end != config.lines.end() && end->first.rfind(path + ".", 0) == 0) ++end;
  config.lines.erase(inner, end);
  config.lines[path] = 0;
}

Json parse_json(const std::string& text, const std::string& where) {
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    fail_usage("{} must be JSON; {}", where, text.empty() ? "the file is empty" : error.what());
  }
}

/// Path of the member that the text of an error begins with: "trainer.max_epochs".
std::string member_of(const std::string& text) {
  const std::string trainer = "[Trainer] ";
  const bool of_trainer = text.rfind(trainer, 0) == 0;
  const std::size_t begin = of_trainer ? trainer.size() : 0;
  std::string member = (of_trainer ? "trainer." : "") + text.substr(begin, text.find_first_of(" :", begin) - begin);
  const std::string unknown = member + ": unknown key \"";
  if (text.rfind(unknown, 0) != 0) return member;
  const std::string key = text.substr(unknown.size(), text.find('"', unknown.size()) - unknown.size());
  return member == "config" ? key : member + "." + key;  // "config" is the file
}

}  // namespace

const std::vector<std::string>& section_names() {
  static const std::vector<std::string> all{
      "seed_everything",  "data",      "model",  "optimizer", "loss", "metrics", "loss_weights",
      "weighted_metrics", "callbacks", "trainer"};
  return all;
}

ConfigFile read_config(const std::string& path) {
  const std::string where = fmt::format("[config \"{}\"]", path);
  std::ifstream file(path, std::ios::binary);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) detail::fail_missing(path, where);
  if (!file || std::filesystem::is_directory(path, ignored)) {
    throw FileError(where + " can't be read: a folder, or no permission");
  }
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  ConfigFile config;
  config.path = path;
  const bool yaml = ends_in(path, ".yaml") || ends_in(path, ".yml");
  config.json = yaml ? parse_yaml(text, where, config.lines) : parse_json(text, where);
  if (!config.json.is_object()) fail_usage("{} must be {}", where, yaml ? "a map of sections" : "a JSON object");
  return config;
}

void apply_overrides(ConfigFile& config, const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument.rfind("--", 0) != 0) fail_usage("unexpected argument \"{}\"", argument);
    const std::size_t equals = argument.find('=');
    const std::string path = argument.substr(2, equals == std::string::npos ? equals : equals - 2);
    if (equals != std::string::npos) {
      override_member(config, path, argument.substr(equals + 1));
    } else if (i + 1 < arguments.size() && arguments[i + 1].rfind("--", 0) != 0) {
      override_member(config, path, arguments[++i]);
    } else {
      override_member(config, path, "");  // names an unknown option first
      fail_usage("--{} needs a value", path);
    }
  }
}

std::string with_line(const ConfigFile& config, const std::string& text) {
  std::string member = member_of(text);
  for (;;) {
    const auto found = config.lines.find(member);
    if (found != config.lines.end()) {
      return found->second == 0 ? text : fmt::format("{}; {} line {}", text, config.path, found->second);
    }
    const std::size_t dot = member.rfind('.');
    if (dot == std::string::npos) return text;
    member.resize(dot);
  }
}

}  // namespace mezzo::cli
