#pragma once
#include <cstdint>
#include <string>

namespace mezzo {

/// Scaling of a float16 model's loss, with the numbers of torch's GradScaler. A fixed scale (`dynamic` false) takes
/// `initial_scale` only: giving it another option is an error. Where no node of a step computes in float16 nothing is
/// scaled, and the options wait for one that does.
struct LossScaleOptions {
  bool dynamic = true;                  ///< false: initial_scale throughout; steps that overflow are skipped still
  double initial_scale = 65536;         ///< from floor to cap
  double growth_factor = 2;             ///< greater than 1
  double backoff_factor = 0.5;          ///< between 0 and 1: what a step that overflows multiplies the scale by
  std::int64_t growth_interval = 2000;  ///< finite steps in a row before the scale grows
  double floor = 1.0 / 65536;           ///< never below; a step that overflows even there is an error
  double cap = 16777216;                ///< never above
};

/// Throws a ValueError that names the option, after `prefix` ("[Trainer] loss_scale."), if one is out of its range. A
/// scale must be a normal float32, 2^-126 to 2^127: the backward pass begins with it.
void check_loss_scale(const LossScaleOptions& options, const std::string& prefix);

/// What changes from step to step: what a checkpoint holds of a LossScale.
struct LossScaleState {
  double scale = 65536;
  std::int64_t finite_steps = 0;  ///< in a row, since the scale changed last or a step overflowed
  std::int64_t skipped = 0;       ///< steps that overflowed, in all
};

/// The number that the seed of a float16 model's backward pass is multiplied by, so that small gradients survive.
class LossScale {
 public:
  LossScale() = default;

  /// A ValueError for an option out of its range.
  explicit LossScale(const LossScaleOptions& options);

  const LossScaleOptions& options() const { return options_; }
  double scale() const { return state_.scale; }
  std::int64_t skipped() const { return state_.skipped; }

  /// Whether the scale can't shrink any more, so that a step that overflows is an error. Never, if it is fixed.
  bool at_floor() const { return options_.dynamic && state_.scale <= options_.floor; }

  /// After a step: grows after an interval of finite ones, backs off after a non-finite one. Returns false if the
  /// scale was at its floor already.
  bool update(bool finite);

  const LossScaleState& state() const { return state_; }

  /// Goes on from there. A ValueError for negative counts, or a scale that the options don't allow.
  void set_state(const LossScaleState& state);

 private:
  LossScaleOptions options_;
  LossScaleState state_;
};

}  // namespace mezzo
