#pragma once
#include <optional>
#include <string>
#include <vector>

#include <mezzo/cli/data_section.hpp>
#include <mezzo/cli/section.hpp>
#include <mezzo/training/model/saving.hpp>
#include <mezzo/training/trainer/trainer_options.hpp>

namespace mezzo::cli {

/// Names of the sections of a configuration.
const std::vector<std::string>& section_names();

/// Reads a JSON file. A FileError if it can't be read, a UsageError if it is not a JSON object.
Json read_config(const std::string& path);

/// Sets members by arguments such as `--trainer.max_epochs 5`, `--data.targets='["y"]'`. A value that isn't JSON is a
/// text. `model.config.layers.1.config.units` counts list items from 0. A UsageError for another form or section.
void apply_overrides(Json& config, const std::vector<std::string>& arguments);

/// A configuration as objects. `json` is complete afterwards: a training can be repeated from it.
struct Experiment {
  Experiment(Json& json, const std::string& run_dir);

  std::int64_t seed = 0;
  DataConfig data;
  Any<Model> model;  ///< compiled
  TrainerOptions trainer;
};

/// The experiment. A wrong name or value, also in the options of a class, is a UsageError.
Experiment make_experiment(Json& json, const std::string& run_dir);

/// Section "model": {"file": "x.mezzo"}, or class_name and config as in Model::to_json(). Of a Sequential, the short
/// form of Keras is read, too: a list of layers that begins with an Input.
Any<Model> read_model_section(Json& json);

}  // namespace mezzo::cli
