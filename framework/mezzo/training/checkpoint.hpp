#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <mezzo/io/safetensors.hpp>
#include <mezzo/training/step_runner.hpp>
#include <mezzo/training/trainer.hpp>

namespace mezzo::detail {

/// Format of checkpoints: a safetensors file. Its tensors are `model.<weight>` and `optimizer.<name>.<slot>.<weight>`,
/// with the names and layouts of weight files. Its metadata holds numbers under the keys below; those of an optimizer
/// have the prefix `optimizer.<name>.`. An optimizer without a name has no `<name>.` in its keys. Header and tensors
/// have checksums, and a file without them is refused.
namespace checkpoint_format {
constexpr const char* name = "mezzo_checkpoint";  ///< value of `format`
constexpr const char* version = "1";              ///< value of `format_version`
constexpr const char *seed = "seed", *step = "global_step", *epoch = "epoch", *batch = "batches_in_epoch";
constexpr const char* iterations = "iterations";  ///< per optimizer
/// Per optimizer: steps whose gradients are accumulated, absent if 0; learning rate, absent unless it was set.
constexpr const char *accumulated = "accumulated_steps", *learning_rate = "learning_rate";
/// Per optimizer, absent as long as its loss scale is in its initial state.
constexpr const char *loss_scale = "loss_scale", *finite_steps = "finite_steps", *skipped = "skipped_steps";

std::string weight_key(const std::string& weight);
std::string optimizer_key(const std::string& optimizer, const std::string& what);
std::string slot_key(const std::string& optimizer, const std::string& slot, const std::string& weight);
}  // namespace checkpoint_format

/// Implements Trainer::save_checkpoint.
void save_checkpoint(Module& module, const std::string& path, const CheckpointOptions& options);

/// A checkpoint that is open for reading.
class Checkpoint {
 public:
  /// Opens the file and reads its counters. A FileError if it is malformed or no checkpoint.
  explicit Checkpoint(const std::string& path);

  /// Restores weights, counters and newly made optimizers of the runner's module. Its layers must be built. `batch` is
  /// a training batch, from which the trained weights are found; `batches` is the number of batches per epoch. A
  /// FileError if anything doesn't fit: nothing has changed then.
  void resume(StepRunner& runner, const HostBatch& batch, std::int64_t batches) const;

 private:
  template <class Number>
  Number number(const std::string& key) const;
  std::int64_t count(const std::string& key, std::int64_t most) const;
  std::optional<LossScaleState> loss_scale(const std::string& optimizer) const;
  std::int64_t accumulated_steps(const std::string& key, const Optimizer& optimizer) const;
  [[noreturn]] void refuse(const std::string& text) const;

  SafetensorsFile file_;
  std::uint64_t seed_ = 0;
  std::int64_t step_ = 0;
  std::int64_t batch_ = 0;
  int epoch_ = 0;
};

}  // namespace mezzo::detail
