#include <algorithm>
#include <cmath>
#include <functional>

#include <mezzo/core/fail.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/optimizers/cosine_decay.hpp>
#include <mezzo/optimizers/exponential_decay.hpp>
#include <mezzo/optimizers/piecewise_constant_decay.hpp>

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

ExponentialDecay::ExponentialDecay(ExponentialDecayOptions options) : options_(options) {
  detail::require_positive("[ExponentialDecay]", "decay_steps", options_.decay_steps);
}

double ExponentialDecay::operator()(std::int64_t step) const {
  const double periods = static_cast<double>(step) / static_cast<double>(options_.decay_steps);
  return options_.initial_learning_rate *
         std::pow(options_.decay_rate, options_.staircase ? std::floor(periods) : periods);
}

PiecewiseConstantDecay::PiecewiseConstantDecay(PiecewiseConstantDecayOptions options) : options_(std::move(options)) {
  const auto& boundaries = options_.boundaries;
  const char* where = "[PiecewiseConstantDecay]";
  if (options_.values.size() != boundaries.size() + 1) {
    fail<ValueError>(where, "values must have one element more than boundaries; got {} and {}", options_.values.size(),
                     boundaries.size());
  }
  if (std::adjacent_find(boundaries.begin(), boundaries.end(), std::greater_equal<>()) != boundaries.end()) {
    fail<ValueError>(where, "boundaries must rise; got {}", fmt::join(boundaries, ", "));
  }
}

double PiecewiseConstantDecay::operator()(std::int64_t step) const {
  const auto& boundaries = options_.boundaries;
  const auto passed = std::lower_bound(boundaries.begin(), boundaries.end(), step) - boundaries.begin();
  return options_.values[static_cast<std::size_t>(passed)];
}

}  // namespace mezzo
