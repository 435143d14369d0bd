#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include <mezzo/cli/class_names.hpp>
#include <mezzo/cli/commands.hpp>
#include <mezzo/cli/config.hpp>
#include <mezzo/cli/run_folder.hpp>
#include <mezzo/cli/usage_error.hpp>
#include <mezzo/core/error.hpp>
#include <mezzo/training/trainer/trainer.hpp>

namespace mezzo::cli {
namespace {

namespace fs = std::filesystem;

struct TrainOptions {
  std::string config, run_dir, ckpt_path;
  bool print_config = false;
};

std::string metrics_text(const History& history) {
  std::string text;
  for (const auto& [name, numbers] : history.history) {
    if (!numbers.empty()) text += fmt::format("{}{} {:.6g}", text.empty() ? "" : ", ", name, numbers.back());
  }
  return text;
}

/// A Trainer; a value that it refuses is a UsageError.
Trainer make_trainer(const TrainerOptions& options, const ConfigFile& config) try {
  return Trainer(options);
} catch (const NameError& error) {
  throw UsageError(with_line(config, error.what()));
} catch (const ValueError& error) {
  throw UsageError(with_line(config, error.what()));
}

void train(const TrainOptions& options, const Overrides& overrides) {
  ConfigFile config = read_config(options.config);
  apply_overrides(config, overrides);
  const std::string run_dir = options.run_dir.empty() ? next_run_dir() : options.run_dir;
  const Experiment experiment = make_experiment(config, run_dir);
  const Trainer trainer = make_trainer(experiment.trainer, config);
  if (options.print_config) {
    fmt::print("{}\n", config.json.dump(2));
    return;
  }
  if (options.run_dir.empty() && (options.ckpt_path == "last" || options.ckpt_path == "best")) {
    fail_usage("--ckpt_path {} needs --run_dir, the folder of the training to continue", options.ckpt_path);
  }
  if (options.ckpt_path.empty() && fs::exists(run_dir + "/config.json")) {
    fail_usage("the folder \"{}\" has a training: name another --run_dir, or --ckpt_path last to continue it", run_dir);
  }
  const DataLoader training = with_lines(config, [&] { return experiment.data.loader("train", true); });
  const DataLoader validation = with_lines(config, [&] { return experiment.data.loader("val", false); });
  const bool writes = experiment.trainer.fast_dev_run == 0;
  std::optional<RunConfig> written;
  if (writes) {
    // Evaluations read columns by name: the order in their files doesn't matter.
    const std::vector<std::string> features = experiment.data.feature_names();
    if (!features.empty()) config.json["data"]["features"] = features;
    written.emplace(config.json, run_dir);
    fmt::print("run folder {}\n", run_dir);
    std::fflush(stdout);
  }
  const Any<Model>& model = experiment.model;
  const DataLoaders validations = validation.empty() ? DataLoaders() : DataLoaders(validation);
  const History history = trainer.fit(*model, training, validations, {.ckpt_path = options.ckpt_path});
  if (written) written->keep();
  if (history.epoch.empty()) fmt::print("no epoch was left to train\n");
  // Counted from 1, as the progress bar counts.
  if (!history.epoch.empty()) fmt::print("epoch {}: {}\n", history.epoch.back() + 1, metrics_text(history));
  if (!writes) return;
  model->save(run_dir + "/model.mezzo");
  fmt::print("model {}/model.mezzo\n", run_dir);
  write_class_names(run_dir, experiment.data.class_names());
}

}  // namespace

void add_train(CLI::App& app, const Overrides& overrides) {
  CLI::App* command = app.add_subcommand("train", "Train a model that a configuration describes");
  const auto options = std::make_shared<TrainOptions>();
  command->add_option("config", options->config, "Configuration, a JSON or YAML file")->required();
  command->add_option("--run_dir", options->run_dir, "Folder for config, logs, checkpoints and model; runs/version_N");
  command->add_option("--ckpt_path", options->ckpt_path, "Checkpoint to continue from: a file, last or best");
  command->add_flag("--print_config", options->print_config, "Print the complete configuration and stop");
  command->footer("Members of the configuration are set by --SECTION.MEMBER VALUE: --trainer.max_epochs 5");
  command->callback([options, &overrides] { train(*options, overrides); });
}

}  // namespace mezzo::cli
