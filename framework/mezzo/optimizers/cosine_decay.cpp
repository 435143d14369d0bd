#include <mezzo/optimizers/cosine_decay.hpp>

#include <algorithm>
#include <cmath>

#include <mezzo/core/fail.hpp>
#include <mezzo/nn/checks.hpp>

namespace mezzo {

CosineDecay::CosineDecay(CosineDecayOptions options) : options_(options) {
  const char* where = "[CosineDecay]";
  const std::int64_t warmup_steps = options_.warmup_steps;
  detail::require_positive(where, "decay_steps", options_.decay_steps);
  if (warmup_steps < 0) fail<ValueError>(where, "warmup_steps must not be negative; got {}", warmup_steps);
  if (warmup_steps > 0 && !options_.warmup_target) {
    fail<ValueError>(where, "warmup_target must be given with warmup_steps; got only warmup_steps = {}", warmup_steps);
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
