#pragma once
#include <mezzo/nn/schedule.hpp>

namespace mezzo {

/// `decay_steps` has to be given. With `staircase` the rate falls only after each `decay_steps`.
struct ExponentialDecayOptions {
  double initial_learning_rate = 0;
  std::int64_t decay_steps = 0;
  double decay_rate = 1;
  bool staircase = false;
};

/// initial_learning_rate * decay_rate ^ (step / decay_steps).
class ExponentialDecay : public Schedule {
 public:
  /// A ValueError for decay_steps below 1.
  explicit ExponentialDecay(ExponentialDecayOptions options = {});
  double operator()(std::int64_t step) const override;

 private:
  ExponentialDecayOptions options_;
};

}  // namespace mezzo
