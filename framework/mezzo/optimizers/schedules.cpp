#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include <mezzo/core/fail.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/optimizers/cosine_decay.hpp>
#include <mezzo/optimizers/cosine_decay_restarts.hpp>
#include <mezzo/optimizers/exponential_decay.hpp>
#include <mezzo/optimizers/inverse_time_decay.hpp>
#include <mezzo/optimizers/linear_warmup.hpp>
#include <mezzo/optimizers/piecewise_constant_decay.hpp>
#include <mezzo/optimizers/polynomial_decay.hpp>

namespace mezzo {
namespace {

CosineDecayOptions with_first(double initial_learning_rate, std::int64_t decay_steps, CosineDecayOptions options) {
  if (options.initial_learning_rate != 0 || options.decay_steps != 0) {
    fail<ValueError>("[CosineDecay]",
                     "initial_learning_rate and decay_steps must be given once; got them as arguments and as options");
  }
  options.initial_learning_rate = initial_learning_rate;
  options.decay_steps = decay_steps;
  return options;
}

double periods(std::int64_t step, std::int64_t steps, bool staircase) {
  const double fraction = static_cast<double>(step) / static_cast<double>(steps);
  return staircase ? std::floor(fraction) : fraction;
}

}  // namespace

CosineDecay::CosineDecay(double initial_learning_rate, std::int64_t decay_steps, CosineDecayOptions options)
    : CosineDecay(with_first(initial_learning_rate, decay_steps, options)) {}

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
  check_not_moved();
  const double initial = options_.initial_learning_rate;
  const double highest = options_.warmup_target.value_or(initial);
  if (step < options_.warmup_steps) {
    return initial + (highest - initial) * static_cast<double>(step) / static_cast<double>(options_.warmup_steps);
  }
  const std::int64_t decayed = std::min(step - options_.warmup_steps, options_.decay_steps);
  const double fraction = static_cast<double>(decayed) / static_cast<double>(options_.decay_steps);
  return highest * ((1 - options_.alpha) * 0.5 * (1 + std::cos(std::numbers::pi * fraction)) + options_.alpha);
}

ExponentialDecay::ExponentialDecay(ExponentialDecayOptions options) : options_(options) {
  detail::require_positive("[ExponentialDecay]", "decay_steps", options_.decay_steps);
}

double ExponentialDecay::operator()(std::int64_t step) const {
  check_not_moved();
  return options_.initial_learning_rate *
         std::pow(options_.decay_rate, periods(step, options_.decay_steps, options_.staircase));
}

InverseTimeDecay::InverseTimeDecay(InverseTimeDecayOptions options) : options_(options) {
  detail::require_positive("[InverseTimeDecay]", "decay_steps", options_.decay_steps);
}

double InverseTimeDecay::operator()(std::int64_t step) const {
  check_not_moved();
  return options_.initial_learning_rate /
         (1 + options_.decay_rate * periods(step, options_.decay_steps, options_.staircase));
}

PolynomialDecay::PolynomialDecay(PolynomialDecayOptions options) : options_(options) {
  detail::require_positive("[PolynomialDecay]", "decay_steps", options_.decay_steps);
}

double PolynomialDecay::operator()(std::int64_t step) const {
  check_not_moved();
  auto steps = static_cast<double>(options_.decay_steps), done = static_cast<double>(step);
  if (options_.cycle) {
    steps *= std::max(1.0, std::ceil(done / steps));
  } else {
    done = std::min(done, steps);
  }
  const double range = options_.initial_learning_rate - options_.end_learning_rate;
  return range * std::pow(1 - done / steps, options_.power) + options_.end_learning_rate;
}

CosineDecayRestarts::CosineDecayRestarts(CosineDecayRestartsOptions options) : options_(options) {
  const char* where = "[CosineDecayRestarts]";
  detail::require_positive(where, "first_decay_steps", options_.first_decay_steps);
  if (!(options_.t_mul >= 1)) fail<ValueError>(where, "t_mul must be at least 1; got {}", options_.t_mul);
  if (!(options_.m_mul >= 0)) fail<ValueError>(where, "m_mul must not be negative; got {}", options_.m_mul);
}

double CosineDecayRestarts::operator()(std::int64_t step) const {
  check_not_moved();
  double fraction = static_cast<double>(step) / static_cast<double>(options_.first_decay_steps);
  const double t = options_.t_mul;
  double restart = std::floor(fraction);
  if (t == 1) {
    fraction -= restart;
  } else {
    restart = std::floor(std::log(1 - fraction * (1 - t)) / std::log(t));
    const double length = std::pow(t, restart);
    fraction = (fraction - (1 - length) / (1 - t)) / length;
  }
  const double decayed = 0.5 * std::pow(options_.m_mul, restart) * (1 + std::cos(std::numbers::pi * fraction));
  return options_.initial_learning_rate * ((1 - options_.alpha) * decayed + options_.alpha);
}

LinearWarmup::LinearWarmup(LinearWarmupOptions options) : options_(std::move(options)) {
  detail::require_positive("[LinearWarmup]", "warmup_steps", options_.warmup_steps);
  if (options_.after.is_preset()) fail<ValueError>("[LinearWarmup]", "after must be given; got no rate");
}

double LinearWarmup::operator()(std::int64_t step) const {
  check_not_moved();
  if (step >= options_.warmup_steps) return options_.after.at(step - options_.warmup_steps);
  const double fraction = static_cast<double>(step) / static_cast<double>(options_.warmup_steps);
  return options_.initial_learning_rate + (options_.after.at(0) - options_.initial_learning_rate) * fraction;
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
  check_not_moved();
  const auto& boundaries = options_.boundaries;
  const auto passed = std::lower_bound(boundaries.begin(), boundaries.end(), step) - boundaries.begin();
  return options_.values[static_cast<std::size_t>(passed)];
}

}  // namespace mezzo
