#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <mezzo/io/safetensors.hpp>
#include <mezzo/nn/weight_names.hpp>
#include <mezzo/training/module.hpp>

namespace mezzo::detail {

/// What a checkpoint has of one weight's states in one optimizer.
struct SavedStates {
  std::vector<std::optional<Tensor>> slots;  ///< as Optimizer::slot_names() has them
  std::optional<Tensor> compensation;
  bool updated = false;  ///< whether the step trains the weight by that optimizer
};

/// What a checkpoint has of a weight.
struct SavedWeight {
  std::shared_ptr<VariableState> variable;
  Tensor numbers;                   ///< all that it stands for, float32 or float64 if it is a float
  std::vector<SavedStates> states;  ///< by optimizer

  /// Gives the variable its numbers and the optimizers, which have no states yet, its slots.
  void give(const OptimizerConfigs& configs);
};

/// Reads the tensors of a checkpoint, weight by weight; what is missing, unexpected or doesn't fit is noted.
class CheckpointReader {
 public:
  explicit CheckpointReader(const SafetensorsFile& file) : file_(file) {}

  SavedWeight read(const FileWeight& weight);

  /// `updated`: whether this optimizer trains it, which it did `iterations` times.
  SavedStates read(const FileWeight& weight, const OptimizerConfig& config, bool updated, std::int64_t iterations);

  /// When all is read.
  void note_unexpected();

  Findings faults;

 private:
  std::optional<Tensor> tensor(const std::string& key, const FileWeight& weight, bool needed);

  const SafetensorsFile& file_;
  std::set<std::string> known_;
};

}  // namespace mezzo::detail
