#include <mezzo/optimizers/exponential_decay.hpp>

#include <cmath>
#include <string>

#include <mezzo/core/error.hpp>

namespace mezzo {

ExponentialDecay::ExponentialDecay(ExponentialDecayOptions options) : options_(options) {
  if (options_.decay_steps < 1) {
    throw ValueError("[ExponentialDecay] decay_steps must be at least 1; got " + std::to_string(options_.decay_steps));
  }
}

double ExponentialDecay::operator()(std::int64_t step) const {
  const double periods = static_cast<double>(step) / static_cast<double>(options_.decay_steps);
  return options_.initial_learning_rate *
         std::pow(options_.decay_rate, options_.staircase ? std::floor(periods) : periods);
}

}  // namespace mezzo
