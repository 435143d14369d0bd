#include <mezzo/cli/config.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <mezzo/cli/nearest.hpp>
#include <mezzo/cli/trainer_section.hpp>
#include <mezzo/cli/usage_error.hpp>
#include <mezzo/core/edit_distance.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/training/model/compile_json.hpp>

namespace mezzo::cli {
namespace {

constexpr const char* compile_members[] = {"optimizer", "loss", "loss_weights", "metrics", "weighted_metrics"};

/// compile() by the sections of the configuration, which are completed.
CompileOptions read_compile_sections(Json& json) {
  Json given = Json::object();
  for (const char* name : compile_members) {
    if (json.contains(name) && !json[name].is_null()) given[name] = json[name];
  }
  CompileOptions options = compile_options_from_json(given.dump());
  json.update(Json::parse(compile_options_to_json(options)));
  return options;
}

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
    fail_usage("unknown option --{}; nearest: --{}", path, detail::nearest_name(top, section_names()));
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

}  // namespace

const std::vector<std::string>& section_names() {
  static const std::vector<std::string> all{
      "seed_everything",  "data",      "model",  "optimizer", "loss", "metrics", "loss_weights",
      "weighted_metrics", "callbacks", "trainer"};
  return all;
}

Json read_config(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::error_code ignored;
  if (!file || std::filesystem::is_directory(path, ignored)) {
    throw FileError(fmt::format("[config \"{}\"] can't be read: no such file, a folder, or no permission", path));
  }
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  try {
    Json json = Json::parse(text);
    if (!json.is_object()) fail_usage("[config \"{}\"] must be a JSON object", path);
    return json;
  } catch (const Json::exception& error) {
    fail_usage("[config \"{}\"] must be JSON; {}", path, text.empty() ? "the file is empty" : error.what());
  }
}

void apply_overrides(Json& config, const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument.rfind("--", 0) != 0) fail_usage("unexpected argument \"{}\"", argument);
    const std::size_t equals = argument.find('=');
    const std::string path = argument.substr(2, equals == std::string::npos ? equals : equals - 2);
    if (equals != std::string::npos) {
      set_member(config, path, argument.substr(equals + 1));
    } else if (i + 1 < arguments.size() && arguments[i + 1].rfind("--", 0) != 0) {
      set_member(config, path, arguments[++i]);
    } else {
      set_member(config, path, "");  // names an unknown option first
      fail_usage("--{} needs a value", path);
    }
  }
}

Experiment::Experiment(Json& json, const std::string& run_dir)
    : data([&]() -> Json& {
        Section section(json, "config");
        section("seed_everything", seed);
        for (const std::string& name : section_names()) {
          if (name != "seed_everything") section.raw(name.c_str());
        }
        section.finish();
        if (seed < 0) fail_usage("seed_everything must be at least 0; got {}", seed);
        seed_everything(static_cast<std::uint64_t>(seed));
        return json["data"];
      }()),
      model(read_model_section(json["model"])),
      trainer(read_trainer(json["trainer"], run_dir)) {
  trainer.callbacks = read_callbacks(json["callbacks"], run_dir);
  const bool compiles = std::any_of(std::begin(compile_members), std::end(compile_members),
                                    [&](const char* name) { return !json[name].is_null(); });
  if (compiles || model->compile_options() == nullptr) {
    if (json["loss"].is_null()) fail_usage("loss must be given");
    model->compile(read_compile_sections(json));
  }
}

Experiment make_experiment(Json& json, const std::string& run_dir) try {
  return Experiment(json, run_dir);
} catch (const NameError& error) {
  throw UsageError(with_nearest(error.what()));
} catch (const ValueError& error) {
  throw UsageError(with_nearest(error.what()));
}

}  // namespace mezzo::cli
