#include <mezzo/optimizers/cosine_decay.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include <mezzo/core/error.hpp>

namespace mezzo {

CosineDecay::CosineDecay(CosineDecayOptions options) : options_(options) {
  if (options_.decay_steps < 1) {
    throw ValueError("[CosineDecay] decay_steps must be at least 1; got " + std::to_string(options_.decay_steps));
  }
  if (options_.warmup_steps < 0) {
    throw ValueError("[CosineDecay] warmup_steps must not be negative; got " + std::to_string(options_.warmup_steps));
  }
  if (options_.warmup_steps > 0 && !options_.warmup_target) {
    throw ValueError("[CosineDecay] warmup_steps needs a warmup_target");
  }
}

double CosineDecay::operator()(std::int64_t step) const {
  constexpr double pi = 3.141592653589793;
  const double initial = options_.initial_learning_rate;
  const double highest = options_.warmup_target.value_or(initial);
  if (step < options_.warmup_steps) {
    return initial + (highest - initial) * static_cast<double>(step) / static_cast<double>(options_.warmup_steps);
  }
  const std::int64_t decayed = std::min(step - options_.warmup_steps, options_.decay_steps);
  const double fraction = static_cast<double>(decayed) / static_cast<double>(options_.decay_steps);
  return highest * ((1 - options_.alpha) * 0.5 * (1 + std::cos(pi * fraction)) + options_.alpha);
}

}  // namespace mezzo
