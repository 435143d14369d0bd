#pragma once
#include <optional>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/schedule.hpp>

namespace mezzo {

struct CosineDecayOptions {
  double initial_learning_rate = 0;       ///< rate of the first update
  std::int64_t decay_steps = 0;           ///< required; updates of the decay, at least 1, after those of the warm-up
  double alpha = 0;                       ///< final rate as a fraction of the highest one
  std::optional<double> warmup_target{};  ///< rate at the end of the warm-up; required with warmup_steps
  std::int64_t warmup_steps = 0;          ///< updates of the warm-up, at least 0
};

/// Half a cosine from the highest rate down to alpha times it, then constant (Loshchilov and Hutter, 2016). A linear
/// warm-up from initial_learning_rate to warmup_target may come first. The highest rate is warmup_target if given, else
/// initial_learning_rate. Formula, with step counted after the warm-up and at most decay_steps:
/// highest * ((1 - alpha) (1 + cos(pi step / decay_steps)) / 2 + alpha).
class MEZZO_API CosineDecay : public Schedule {
 public:
  /// A ValueError for decay_steps below 1, warmup_steps below 0, or warmup_steps without a warmup_target.
  explicit CosineDecay(CosineDecayOptions options = {});
  /// The same with Keras' first arguments; a ValueError if the options have them, too.
  CosineDecay(double initial_learning_rate, std::int64_t decay_steps, CosineDecayOptions options = {});
  double operator()(std::int64_t step) const override;

  /// Returns the options given to the constructor.
  const CosineDecayOptions& options() const { return options_; }

 private:
  CosineDecayOptions options_;
};

}  // namespace mezzo
