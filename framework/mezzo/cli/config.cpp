#include <mezzo/cli/config.hpp>

#include <algorithm>
#include <iterator>

#include <mezzo/cli/trainer_section.hpp>
#include <mezzo/cli/usage_error.hpp>
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

}  // namespace

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

Experiment make_experiment(ConfigFile& config, const std::string& run_dir) try {
  return with_lines(config, [&] { return Experiment(config.json, run_dir); });
} catch (const NameError& error) {
  throw UsageError(error.what());
} catch (const ValueError& error) {
  throw UsageError(error.what());
}

}  // namespace mezzo::cli
