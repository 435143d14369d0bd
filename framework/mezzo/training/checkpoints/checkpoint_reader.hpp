#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/io/safetensors.hpp>
#include <mezzo/nn/weight_names.hpp>
#include <mezzo/training/module/module.hpp>

namespace mezzo::detail {

/// States of one weight in one optimizer, as a checkpoint holds them.
struct SavedStates {
  std::vector<std::optional<Tensor>> slots;  ///< slots in the order of Optimizer::all_slot_names()
  std::optional<Tensor> compensation;        ///< compensation of Kahan summation
  bool updated = false;                      ///< true if the training step updates the weight by that optimizer
};

/// A weight and its optimizer states, as a checkpoint holds them.
struct SavedWeight {
  std::shared_ptr<VariableState> variable;
  Tensor numbers;                   ///< full value, with split halves joined; float32 or float64 if it is a float
  std::vector<SavedStates> states;  ///< states by optimizer

  /// Assigns the value to the variable and the states to the optimizers, which must have none yet.
  void restore(const OptimizerConfigs& configs);
};

/// Reads the tensors of a checkpoint weight by weight. Collects the tensors that are missing, unexpected or don't fit.
class CheckpointReader {
 public:
  explicit CheckpointReader(const SafetensorsFile& file) : file_(file) {}

  /// Value of a weight, without states.
  SavedWeight read(const FileWeight& weight);

  /// States of a weight in one optimizer. `updated` is true if the optimizer trains the weight; `iterations` is the
  /// number of updates it has made, `accumulated` the number of steps since the last one.
  SavedStates read(const FileWeight& weight, const OptimizerConfig& config, bool updated, std::int64_t iterations,
                   std::int64_t accumulated);

  /// Adds tensors that were not read to the faults, except those with these prefixes, and numbers of quantized weights
  /// that can't be assigned. Call it after the last read().
  void note_unexpected(const std::vector<std::string>& except = {});

  Findings faults;

 private:
  std::optional<Tensor> tensor(const std::string& key, const FileWeight& weight, bool needed);

  /// The same for a state of that shape, in the weight's layout if it has the weight's shape.
  std::optional<Tensor> tensor(const std::string& key, const FileWeight& weight, bool needed, const Shape& shape);

  void note_faults_of_codes();

  const SafetensorsFile& file_;
  std::set<std::string> known_;
  std::vector<std::pair<Variable, Tensor>> codes_;  // of quantized weights, with their scales
};

}  // namespace mezzo::detail
