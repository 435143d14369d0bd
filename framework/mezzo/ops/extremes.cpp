#include <cmath>
#include <limits>
#include <numbers>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/elementwise.hpp>
#include <mezzo/ops/exact_numbers.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

// Functions that choose between operands: extremes, limits, replacements; powers.
namespace mezzo {
namespace {

/// The chosen operand receives the cotangent. If both are equal, each receives one half, as in Keras on JAX.
Values chosen_gradient(const GradientContext& context) {
  const Value &a = context.input(0), &b = context.input(1), &y = context.output();
  Values out(2);
  for (std::size_t i = 0; i < 2; ++i) {
    if (!context.needs(i)) continue;
    const Value g = detail::cotangent_for(context, i);
    const Value shared = where(equal(a, b), g * 0.5, g);
    out[i] = detail::reduce_to_input(context, i, where(equal(context.input(i), y), shared, 0.0));
  }
  return out;
}

template <Value (*chosen)(const Value& a, const Value& b)>
Op extreme_op() {
  Op op;
  op.infer = detail::infer_broadcast;
  op.reinsert = [](const Values& inputs, const Attributes&) { return Values{chosen(inputs[0], inputs[1])}; };
  op.gradient = chosen_gradient;
  return op;
}

// d a^b = b a^(b - 1) da + log(a) a^b db. Neither is NaN at a = 0: an exponent of 0 has a gradient of 0, and log(0)
// counts as 0.
Values power_gradient(const GradientContext& context) {
  const Value &a = context.input(0), &b = context.input(1);
  Values out(2);
  if (context.needs(0)) {
    const Value zero = equal(b, 0);
    const Value slope = where(zero, 0.0, b * power(a, where(zero, 1.0, b - 1)));
    out[0] = detail::reduce_to_input(context, 0, detail::cotangent_for(context, 0) * slope);
  }
  if (context.needs(1)) {
    const Value slope = log(where(equal(a, 0), 1.0, a)) * context.output();
    out[1] = detail::reduce_to_input(context, 1, detail::cotangent_for(context, 1) * slope);
  }
  return out;
}

Values nan_to_num_gradient(const GradientContext& context) {
  return {where(isfinite(context.input(0)), context.cotangent(), 0.0)};
}

/// Bools as int32, in which Keras squares them.
Value number(const Value& x) { return x.dtype() == DType::boolean ? cast(x, DType::int32) : x; }

}  // namespace

Op detail::define_maximum() { return extreme_op<greatest>(); }
Op detail::define_minimum() { return extreme_op<least>(); }

Op detail::define_power() {
  Op op;
  op.infer = infer_broadcast;
  op.gradient = power_gradient;
  return op;
}

Op detail::define_nan_to_num() {
  Op op;
  op.cast.floats_only = true;
  op.infer = infer_same;
  op.gradient = nan_to_num_gradient;
  return op;
}

Value maximum(const Value& x1, const Value& x2) { return detail::greatest(x1, x2); }
Value minimum(const Value& x1, const Value& x2) { return detail::least(x1, x2); }

Value fmax(const Value& x1, const Value& x2) {
  const Value greater = maximum(x1, x2);
  return is_floating(greater.dtype()) ? where(isnan(x1), x2, where(isnan(x2), x1, greater)) : greater;
}

Value fmin(const Value& x1, const Value& x2) {
  const Value lesser = minimum(x1, x2);
  return is_floating(lesser.dtype()) ? where(isnan(x1), x2, where(isnan(x2), x1, lesser)) : lesser;
}

Value clip(const Value& x, const Value& x_min, const Value& x_max) { return minimum(maximum(x, x_min), x_max); }

Value power(const Value& x1, const Value& x2) {
  if (x2.weak() && x2.item() == 2) return square(x1);
  return insert_one(ops::power, {number(x1), x2});
}

Value square(const Value& x) {
  const Value base = number(x);
  return base * base;
}

Value reciprocal(const Value& x) { return 1.0 / x; }

Value divide_no_nan(const Value& x1, const Value& x2) {
  if (x2.weak() && x2.item() != 0) return divide(x1, x2);
  const Value zero = equal(x2, 0);
  return where(zero, 0.0, divide(x1, x2.weak() ? Value(1.0) : where(zero, 1.0, x2)));
}

Value heaviside(const Value& x1, const Value& x2) {
  // Two numbers would make an array of the compute dtype.
  const Value above = !x1.weak() ? where(isnan(x1), x1, 1.0) : std::isnan(x1.item()) ? x1 : Value(1.0);
  return where(less(x1, 0), 0.0, where(equal(x1, 0), x2, above));
}

Value nan_to_num(const Value& x, const NanToNumOptions& options) {
  if (!is_floating(x.dtype())) return x;
  Attributes attributes{{"nan", options.nan}};
  if (options.posinf) attributes.set("posinf", *options.posinf);
  if (options.neginf) attributes.set("neginf", *options.neginf);
  return insert_one(ops::nan_to_num, {x}, std::move(attributes));
}

Value angle(const Value& x) {
  constexpr double half_turn = std::numbers::pi;
  return where(isnan(x), x, where(signbit(x), half_turn, 0.0));
}

Value select(const Values& condlist, const Values& choicelist, const Value& default_value) {
  if (condlist.empty() || condlist.size() != choicelist.size()) {
    fail<ValueError>(detail::current_label("select"),
                     "condlist and choicelist must have the same number of entries, at least 1; got {} and {}",
                     condlist.size(), choicelist.size());
  }
  Value out = default_value;
  for (std::size_t i = condlist.size(); i-- > 0;) out = where(condlist[i], choicelist[i], out);
  return out;
}

}  // namespace mezzo
