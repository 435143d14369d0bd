#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <mezzo/io/safetensors.hpp>
#include <mezzo/training/step_runner.hpp>
#include <mezzo/training/trainer.hpp>

namespace mezzo::detail {

/// What a checkpoint is: a safetensors file whose tensors are `model.<weight>` and `optimizer.<name>.<slot>.<weight>`,
/// without `<name>.` for an optimizer that has none, by the names and in the layouts of weight files. Its metadata has
/// the numbers, by the keys below; an optimizer's after its `optimizer.<name>.`.
namespace checkpoint_format {
constexpr const char* name = "mezzo_checkpoint";  ///< value of `format`
constexpr const char* version = "1";              ///< value of `format_version`
constexpr const char *seed = "seed", *step = "global_step", *epoch = "epoch", *batch = "batches_in_epoch";
constexpr const char *iterations = "iterations", *loss_scale = "loss_scale", *finite_steps = "finite_steps",
                     *skipped = "skipped_steps";  // the last three where the scale has been in use

std::string weight_key(const std::string& weight);
std::string optimizer_key(const std::string& optimizer, const std::string& what);
std::string slot_key(const std::string& optimizer, const std::string& slot, const std::string& weight);
}  // namespace checkpoint_format

/// Trainer::save_checkpoint.
void save_checkpoint(Module& module, const std::string& path, const CheckpointOptions& options);

/// A checkpoint that is open for reading.
class Checkpoint {
 public:
  /// A FileError if the file is malformed, or no checkpoint.
  explicit Checkpoint(const std::string& path);

  /// Gives module and optimizers, made anew, what the file has. The layers must be built; `batch` is one of the
  /// training's, whose epochs have `batches`. A FileError if anything doesn't fit: nothing has changed then.
  void resume(StepRunner& runner, const HostBatch& batch, std::int64_t batches) const;

 private:
  template <class Number>
  Number number(const std::string& key) const;
  std::optional<LossScaleState> loss_scale(const std::string& optimizer) const;
  [[noreturn]] void refuse(const std::string& text) const;

  SafetensorsFile file_;
  std::uint64_t seed_ = 0;
  std::int64_t step_ = 0;
  std::int64_t batch_ = 0;
  int epoch_ = 0;
};

}  // namespace mezzo::detail
