#include <mezzo/constraints/constraints.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {
namespace {

constexpr double epsilon = 1e-7;  // Keras' backend.epsilon()

void require_not_negative(const char* kind, const char* option, double value) {
  if (!(value >= 0)) fail<ValueError>(kind, "{} must not be negative; got {}", option, value);
}

/// L2 norms over axes, which are kept with size 1.
Value norms_of(const Value& weight, const detail::Ints& axis) {
  const Value squares = sum(weight * weight, {.axes = axis.numbers(), .keepdims = true});
  return sqrt(squares);
}

}  // namespace

MinMaxNorm::MinMaxNorm(MinMaxNormOptions options) : options_(std::move(options)) {
  require_not_negative("[MinMaxNorm]", "min_value", options_.min_value);
  if (!(options_.max_value >= options_.min_value)) {
    fail<ValueError>("[MinMaxNorm]", "max_value must not be below min_value; got min_value {}, max_value {}",
                     options_.min_value, options_.max_value);
  }
  if (!(options_.rate >= 0 && options_.rate <= 1)) {
    fail<ValueError>("[MinMaxNorm]", "rate must lie in [0, 1]; got {}", options_.rate);
  }
}

Value MinMaxNorm::call(const Value& weight) const {
  check_not_moved();
  const Value norms = norms_of(weight, options_.axis);
  Value desired = clip(norms, options_.min_value, options_.max_value);
  if (options_.rate != 1) desired = options_.rate * desired + (1 - options_.rate) * norms;
  return weight * (desired / (epsilon + norms));
}

MaxNorm::MaxNorm(MaxNormOptions options) : options_(std::move(options)) {
  require_not_negative("[MaxNorm]", "max_value", options_.max_value);
}

Value MaxNorm::call(const Value& weight) const {
  check_not_moved();
  return MinMaxNorm(0, options_.max_value, 1, options_.axis).call(weight);
}

Value UnitNorm::call(const Value& weight) const {
  check_not_moved();
  return weight / (epsilon + norms_of(weight, options_.axis));
}

Value NonNeg::call(const Value& weight) const {
  check_not_moved();
  return relu(weight);
}

}  // namespace mezzo
