#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/schedule.hpp>

namespace mezzo {

struct PolynomialDecayOptions {
  double initial_learning_rate = 0;   ///< rate of the first update
  std::int64_t decay_steps = 0;       ///< required; updates of the decay, at least 1
  double end_learning_rate = 0.0001;  ///< rate after decay_steps
  double power = 1;                   ///< power of the polynomial; 1: linear
  bool cycle = false;                 ///< true: decays again over 2, 3, ... times decay_steps; false: then constant
};

/// Learning rate (initial_learning_rate - end_learning_rate) * (1 - step / decay_steps) ^ power + end_learning_rate.
class MEZZO_API PolynomialDecay : public Schedule {
 public:
  /// A ValueError for decay_steps below 1.
  explicit PolynomialDecay(PolynomialDecayOptions options = {});
  /// The same with positional arguments.
  PolynomialDecay(double initial_learning_rate, std::int64_t decay_steps, double end_learning_rate = 0.0001,
                  double power = 1, bool cycle = false)
      : PolynomialDecay(PolynomialDecayOptions{initial_learning_rate, decay_steps, end_learning_rate, power, cycle}) {}
  double operator()(std::int64_t step) const override;

  /// Returns the options given to the constructor.
  const PolynomialDecayOptions& options() const { return options_; }

 private:
  PolynomialDecayOptions options_;
};

}  // namespace mezzo
