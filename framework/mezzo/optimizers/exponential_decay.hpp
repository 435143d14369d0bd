#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/schedule.hpp>

namespace mezzo {

struct ExponentialDecayOptions {
  double initial_learning_rate = 0;  ///< rate of the first update
  std::int64_t decay_steps = 0;  ///< required; updates in which the rate is multiplied by decay_rate once, at least 1
  double decay_rate = 1;         ///< factor of the rate per decay_steps
  bool staircase = false;        ///< true: rounds step / decay_steps down, so that the rate falls in steps
};

/// Learning rate initial_learning_rate * decay_rate ^ (step / decay_steps).
class MEZZO_API ExponentialDecay : public Schedule {
 public:
  /// A ValueError for decay_steps below 1.
  explicit ExponentialDecay(ExponentialDecayOptions options = {});
  /// The same with positional arguments.
  ExponentialDecay(double initial_learning_rate, std::int64_t decay_steps, double decay_rate, bool staircase = false)
      : ExponentialDecay(ExponentialDecayOptions{initial_learning_rate, decay_steps, decay_rate, staircase}) {}
  double operator()(std::int64_t step) const override;

  /// Returns the options given to the constructor.
  const ExponentialDecayOptions& options() const { return options_; }

 private:
  ExponentialDecayOptions options_;
};

}  // namespace mezzo
