#pragma once
#include <optional>

#include <mezzo/nn/schedule.hpp>

namespace mezzo {

/// `decay_steps` has to be given. `alpha`: the last rate as a part of the highest one. With `warmup_target` the rate
/// first rises to that, for `warmup_steps`.
struct CosineDecayOptions {
  double initial_learning_rate = 0;
  std::int64_t decay_steps = 0;
  double alpha = 0;
  std::optional<double> warmup_target{};
  std::int64_t warmup_steps = 0;
};

/// Half a cosine from the initial rate (or the warm-up's target) down to alpha times it, then constant (Loshchilov
/// and Hutter, 2016), after a linear warm-up: rate * ((1 - alpha) (1 + cos(pi step / decay_steps)) / 2 + alpha).
class CosineDecay : public Schedule {
 public:
  /// A ValueError for decay_steps below 1, warmup_steps below 0, or warmup_steps without a warmup_target.
  explicit CosineDecay(CosineDecayOptions options = {});
  double operator()(std::int64_t step) const override;

 private:
  CosineDecayOptions options_;
};

}  // namespace mezzo
