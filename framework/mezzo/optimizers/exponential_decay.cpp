#include <mezzo/optimizers/exponential_decay.hpp>

#include <cmath>

#include <mezzo/nn/checks.hpp>

namespace mezzo {

ExponentialDecay::ExponentialDecay(ExponentialDecayOptions options) : options_(options) {
  detail::require_positive("[ExponentialDecay]", "decay_steps", options_.decay_steps);
}

double ExponentialDecay::operator()(std::int64_t step) const {
  const double periods = static_cast<double>(step) / static_cast<double>(options_.decay_steps);
  return options_.initial_learning_rate *
         std::pow(options_.decay_rate, options_.staircase ? std::floor(periods) : periods);
}

}  // namespace mezzo
