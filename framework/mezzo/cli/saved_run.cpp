#include <mezzo/cli/saved_run.hpp>

#include <CLI/CLI.hpp>

#include <filesystem>

#include <mezzo/cli/config.hpp>
#include <mezzo/cli/nearest.hpp>
#include <mezzo/cli/usage_error.hpp>

namespace mezzo::cli {

namespace fs = std::filesystem;

Policy policy_of(const std::string& precision) {
  if (precision.empty()) return {};
  try {
    const Precision named(precision);
    if (named.automatic()) fail_usage("--precision {} is for trainings only: name one precision", precision);
    return named.policy();
  } catch (const NameError& error) {
    throw UsageError(with_nearest(error.what()));
  }
}

Any<Model> open_model(const std::string& path, const std::string& precision) {
  std::error_code ignored;
  const bool folder = fs::is_directory(path, ignored);
  if (folder && !fs::exists(fs::path(path) / "model.mezzo", ignored)) {
    throw FileError(fmt::format("[run folder \"{}\"] has no model.mezzo: its training has not ended", path));
  }
  return load_model(folder ? path + "/model.mezzo" : path, {.dtype = policy_of(precision)});
}

bool ends_in(const std::string& path, const std::string& suffix) {
  return path.size() > suffix.size() && path.compare(path.size() - suffix.size(), suffix.size(), suffix) == 0;
}

SavedRun open_run(const SavedRunOptions& options, const Overrides& overrides) {
  std::error_code ignored;
  const bool folder = fs::is_directory(options.model, ignored);
  if (!fs::exists(options.model, ignored)) throw FileError(fmt::format("[model \"{}\"] no such file", options.model));
  Json config = Json::object();
  if (!options.config.empty()) {
    config = read_config(options.config);
  } else if (folder) {
    config = read_config(options.model + "/config.json");
  }
  for (const std::string& override : overrides) {
    if (override.rfind("--", 0) == 0 && override.rfind("--data.", 0) != 0) {
      fail_usage("{} has no effect here: of the configuration only the section data is read", override);
    }
  }
  apply_overrides(config, overrides);
  if (!config.contains("data")) fail_usage("the data must be given: a run folder, --config, or --data.name and others");
  const DataConfig data(config["data"]);
  SavedRun run{open_model(options.model, options.precision), {}, options.part};
  if (!run.part.empty()) {
    run.loader = data.loader(run.part, true);
    return run;
  }
  run.part = "test";
  run.loader = data.loader("test", false);
  if (!run.loader.empty()) return run;
  run.part = "val";
  run.loader = data.loader("val", true);
  return run;
}

void add_run_options(CLI::App& command, SavedRunOptions& options) {
  command.add_option("model", options.model, "Run folder of `mezzo train`, or a model file (.mezzo, .keras, .h5)")
      ->required();
  command.add_option("--config", options.config, "Configuration whose section data is read; that of the run folder");
  command.add_option("--part", options.part, "train, val or test; test, or val if there is none")
      ->check(CLI::IsMember({"train", "val", "test"}));
  command.add_option("--precision", options.precision, "Precision policy; that of the file");
  command.footer("Members of the section data are set by --data.MEMBER VALUE: --data.test new.csv");
}

}  // namespace mezzo::cli
