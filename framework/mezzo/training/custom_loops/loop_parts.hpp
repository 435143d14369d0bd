#pragma once
#include <string>
#include <utility>
#include <vector>

#include <mezzo/nn/weight_names.hpp>
#include <mezzo/training/custom_loops/grad_scaler.hpp>
#include <mezzo/training/custom_loops/step_function.hpp>
#include <mezzo/training/module/optimizer_config.hpp>

namespace mezzo::detail {

/// Format of the files of LoopCheckpoint. Tensors have the names of checkpoints, with the name of the model before that
/// of the weight. Metadata hold the numbers below as text, those of optimizers as in checkpoints.
namespace loop_format {
constexpr const char* version = "1";
constexpr const char *scale = "scale", *growth_tracker = "growth_tracker";  ///< of "scaler.<name>."
constexpr const char *steps = "steps", *stream = "stream";                  ///< of "step.<name>."
std::string scaler_key(const std::string& scaler, const char* what);
std::string step_key(const std::string& step, const char* what);
}  // namespace loop_format

/// Objects of a training loop, by name.
struct LoopParts {
  std::vector<std::pair<std::string, Shared<LayerState>>> models;
  std::vector<std::pair<std::string, Variable>> variables;
  OptimizerConfigs optimizers;
  std::vector<std::pair<std::string, GradScaler>> scalers;
  std::vector<std::pair<std::string, StepFunction>> steps;

  /// All weights and variables, with their names in files. A ValueError if a model isn't built.
  std::vector<FileWeight> weights() const;
};

/// Reads a file into the parts. A FileError for a file that doesn't fit.
void load_loop(const LoopParts& parts, const std::string& path);

}  // namespace mezzo::detail
