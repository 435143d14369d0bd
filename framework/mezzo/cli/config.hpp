#pragma once
#include <string>

#include <mezzo/cli/config_file.hpp>
#include <mezzo/cli/data_section.hpp>
#include <mezzo/cli/section.hpp>
#include <mezzo/training/model/saving.hpp>
#include <mezzo/training/trainer/trainer_options.hpp>

namespace mezzo::cli {

/// A configuration as objects. `json` is complete afterwards: a training can be repeated from it.
struct Experiment {
  Experiment(Json& json, const std::string& run_dir);

  std::int64_t seed = 0;
  DataConfig data;
  Any<Model> model;  ///< compiled
  TrainerOptions trainer;
};

/// The experiment. A wrong name or value, also in the options of a class, is a UsageError, with its line in a YAML
/// file.
Experiment make_experiment(ConfigFile& config, const std::string& run_dir);

/// Section "model": {"file": "x.mezzo"}, or class_name and config as in Model::to_json(). Of a Sequential, the short
/// form of Keras is read, too: a list of layers that begins with an Input.
Any<Model> read_model_section(Json& json);

}  // namespace mezzo::cli
