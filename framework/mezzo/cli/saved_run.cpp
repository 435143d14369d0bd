#include <mezzo/cli/saved_run.hpp>

#include <CLI/CLI.hpp>

#include <filesystem>

#include <mezzo/cli/config.hpp>
#include <mezzo/cli/onnx_part.hpp>
#include <mezzo/cli/usage_error.hpp>
#include <mezzo/io/check_path.hpp>
#include <mezzo/training/step/int8_policy.hpp>

namespace mezzo::cli {

namespace fs = std::filesystem;

Precision precision_of(const std::string& precision) {
  if (precision.empty()) return {};
  try {
    Precision named(precision);
    if (named.automatic()) fail_usage("--precision {} is for trainings only: name one precision", precision);
    return named;
  } catch (const NameError& error) {
    throw UsageError(error.what());
  }
}

std::string model_file_of(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return path;
  if (!fs::exists(fs::path(path) / "model.mezzo", ignored)) {
    throw FileError(fmt::format("[run folder \"{}\"] has no model.mezzo: its training has not ended", path));
  }
  return path + "/model.mezzo";
}

Any<Model> open_model(const std::string& path, const std::string& precision) {
  const std::string file = model_file_of(path);
  return with_precision(precision, [&](const Policy& policy) {
    return ends_in(file, ".onnx") ? read_onnx(file, policy) : load_model(file, {.dtype = policy});
  });
}

Any<Model> with_precision(const std::string& precision, const std::function<Any<Model>(const Policy&)>& make) {
  const Precision named = precision_of(precision);
  Any<Model> model = make(named.policy());
  if (!named.int8_inside()) return model;
  return make(detail::completed_policy(named.policy(), true, *model));
}

bool ends_in(const std::string& path, const std::string& suffix) {
  return path.size() > suffix.size() && path.compare(path.size() - suffix.size(), suffix.size(), suffix) == 0;
}

namespace {

/// trainer.precision of a configuration; "" if it has none, or one that chooses by measurements.
std::string precision_of_training(const Json& config) {
  const auto trainer = config.find("trainer");
  if (trainer == config.end() || !trainer->is_object()) return "";
  const auto precision = trainer->find("precision");
  if (precision == trainer->end()) return "";
  if (precision->is_number_integer()) return precision->dump();
  if (!precision->is_string()) return "";
  const std::string name = precision->get<std::string>();
  return name.rfind("auto", 0) == 0 ? "" : name;
}

}  // namespace

SavedRun open_run(const SavedRunOptions& options, const Overrides& overrides) {
  std::error_code ignored;
  const bool folder = fs::is_directory(options.model, ignored);
  if (!fs::exists(options.model, ignored)) {
    detail::fail_missing(options.model, fmt::format("[model \"{}\"]", options.model));
  }
  ConfigFile config;
  if (!options.config.empty()) {
    config = read_config(options.config);
  } else if (folder) {
    config = read_config(options.model + "/config.json");
  }
  for (const std::string& override : overrides) {
    if (override.rfind("--", 0) == 0 && override.rfind("--data.", 0) != 0) {
      fail_usage("{} has no effect here: only members of the section data can be set", override);
    }
  }
  apply_overrides(config, overrides);
  if (!config.json.contains("data")) {
    fail_usage("the data must be given: a run folder, --config, or --data.name and others");
  }
  DataConfig data = with_lines(config, [&] { return DataConfig(config.json["data"]); });
  if (!options.labels) data.allow_no_labels();
  const std::string precision = options.precision.empty() ? precision_of_training(config.json) : options.precision;
  SavedRun run{open_model(options.model, precision), {}, options.part, precision};
  const auto take = [&](const std::string& part, bool needed) {
    run.part = part;
    run.loader = with_lines(config, [&] { return data.loader(part, needed); });
    return !run.loader.empty();
  };
  if (!run.part.empty()) {
    take(run.part, true);
  } else if (!take("test", false)) {
    take("val", true);
  }
  run.files = data.files(run.part);
  DataLoaderOptions in_order = run.loader.options();
  in_order.shuffle = false;
  run.loader = DataLoader(run.loader.dataset(), in_order);
  return run;
}

void add_run_options(CLI::App& command, SavedRunOptions& options) {
  command
      .add_option("model", options.model, "Run folder of `mezzo train`, or a model file (.mezzo, .keras, .h5, .onnx)")
      ->required();
  command.add_option("--config", options.config, "Configuration whose section data is read; that of the run folder");
  command.add_option("--part", options.part, "train, val or test; test, or val if there is none")
      ->check(CLI::IsMember({"train", "val", "test"}));
  command.add_option("--precision", options.precision,
                     "Precision policy; that of the training in a run folder, else that of the file");
  command.footer("Members of the section data are set by --data.MEMBER VALUE: --data.test new.csv");
}

}  // namespace mezzo::cli
