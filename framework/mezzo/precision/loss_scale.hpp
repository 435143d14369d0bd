#pragma once
#include <cstdint>
#include <string>

#include <mezzo/core/api.hpp>

namespace mezzo {

/// Options of loss scaling for float16, with the defaults of torch's GradScaler. A fixed scale (`dynamic` false) has
/// `initial_scale` only; any other option is an error. A step without float16 nodes is not scaled.
struct LossScaleOptions {
  bool dynamic = true;                  ///< false: always initial_scale; steps that overflow are still skipped
  double initial_scale = 65536;         ///< first scale, from floor to cap
  double growth_factor = 2;             ///< factor of the scale when it grows; greater than 1
  double backoff_factor = 0.5;          ///< factor of the scale after a step that overflows; between 0 and 1
  std::int64_t growth_interval = 2000;  ///< finite steps in a row before the scale grows
  double floor = 1.0 / 65536;           ///< least scale; a step that overflows at it is an error
  double cap = 16777216;                ///< greatest scale
};

namespace detail {
/// Throws a ValueError with `prefix` ("[Trainer] loss_scale.") and the option's name if an option is out of its range.
/// A scale must be a normal float32, 2^-126 to 2^127, because it is the seed of the backward pass.
MEZZO_API void check_loss_scale(const LossScaleOptions& options, const std::string& prefix);
}  // namespace detail

/// State of a LossScale, which changes between steps and is stored in checkpoints.
struct LossScaleState {
  double scale = 65536;           ///< current scale
  std::int64_t finite_steps = 0;  ///< finite steps in a row; reset by an overflow and, if dynamic, at growth_interval
  std::int64_t skipped = 0;       ///< number of all steps that overflowed
};

/// Factor of the loss of a float16 model. It keeps small gradients above float16's underflow.
class MEZZO_API LossScale {
 public:
  LossScale() = default;

  /// Throws a ValueError for an option out of its range.
  explicit LossScale(const LossScaleOptions& options);

  const LossScaleOptions& options() const { return options_; }  ///< as given to the constructor
  double scale() const { return state_.scale; }                 ///< present factor of the loss
  std::int64_t skipped() const { return state_.skipped; }       ///< number of skipped steps since the start

  /// True if the scale can't shrink any more, so that a step that overflows is an error. Always false for a fixed
  /// scale.
  bool at_floor() const { return options_.dynamic && state_.scale <= options_.floor; }

  /// Updates the scale after a step: grows after growth_interval finite steps, shrinks after a non-finite one. Returns
  /// false if the step was not finite and the scale was already at its floor.
  bool update(bool finite);

  const LossScaleState& state() const { return state_; }  ///< scale and counters, for checkpoints

  /// Greatest count of steps in a state: 2^53, the largest range of integers that doubles hold exactly.
  static constexpr std::int64_t largest_count = std::int64_t{1} << 53;

  /// Restores a state. Throws a ValueError for counts outside of [0, largest_count], or a scale that the options don't
  /// allow.
  void set_state(const LossScaleState& state);

 private:
  LossScaleOptions options_;
  LossScaleState state_;
};

}  // namespace mezzo
