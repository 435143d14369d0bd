#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/schedule.hpp>

namespace mezzo {

struct InverseTimeDecayOptions {
  double initial_learning_rate = 0;  ///< rate of the first update
  std::int64_t decay_steps = 0;      ///< required; updates in which the divisor rises by decay_rate, at least 1
  double decay_rate = 0;             ///< rise of the divisor per decay_steps
  bool staircase = false;            ///< true: rounds step / decay_steps down, so that the rate falls in steps
};

/// Learning rate initial_learning_rate / (1 + decay_rate * step / decay_steps).
class MEZZO_API InverseTimeDecay : public Schedule {
 public:
  /// A ValueError for decay_steps below 1.
  explicit InverseTimeDecay(InverseTimeDecayOptions options = {});
  /// The same with positional arguments.
  InverseTimeDecay(double initial_learning_rate, std::int64_t decay_steps, double decay_rate, bool staircase = false)
      : InverseTimeDecay(InverseTimeDecayOptions{initial_learning_rate, decay_steps, decay_rate, staircase}) {}
  double operator()(std::int64_t step) const override;

  /// Returns the options given to the constructor.
  const InverseTimeDecayOptions& options() const { return options_; }

 private:
  InverseTimeDecayOptions options_;
};

}  // namespace mezzo
