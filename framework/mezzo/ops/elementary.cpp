#include <cmath>
#include <numbers>

#include <mezzo/ops/elementwise.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

// Elementary functions of one float operand: roots, exponentials, logarithms, trigonometric, hyperbolic and error
// functions.
namespace mezzo {
namespace {

constexpr double sqrt_pi = 1.77245385090551602730;
constexpr double ln_2 = 0.693147180559945309417;
constexpr double ln_10 = 2.30258509299404568402;

/// An op of a floating operand whose output has its shape and dtype.
template <Value (*gradient)(const Value& g, const Value& x, const Value& y)>
Op of_float() {
  Op op;
  op.cast.floats_only = true;
  op.infer = detail::infer_same;
  op.gradient = [](const GradientContext& context) {
    return Values{gradient(context.cotangent(), context.input(0), context.output())};
  };
  return op;
}

// Cotangents of x from those of y, g. Functions that use y need not keep x. NOLINTBEGIN(misc-unused-parameters)
Value of_sqrt(const Value& g, const Value&, const Value& y) { return g / y * 0.5; }
Value of_rsqrt(const Value& g, const Value& x, const Value& y) { return g * y / x * -0.5; }
Value of_cbrt(const Value& g, const Value&, const Value& y) { return g / (y * y * 3); }

Value of_exp2(const Value& g, const Value&, const Value& y) { return g * y * ln_2; }
Value of_expm1(const Value& g, const Value&, const Value& y) { return g * (y + 1); }
Value of_log10(const Value& g, const Value& x, const Value&) { return g / (x * ln_10); }
Value of_log1p(const Value& g, const Value& x, const Value&) { return g / (x + 1); }
Value of_log2(const Value& g, const Value& x, const Value&) { return g / (x * ln_2); }

Value of_sin(const Value& g, const Value& x, const Value&) { return g * cos(x); }
Value of_cos(const Value& g, const Value& x, const Value&) { return -(g * sin(x)); }
Value of_tan(const Value& g, const Value&, const Value& y) { return g * (y * y + 1); }
Value of_arcsin(const Value& g, const Value& x, const Value&) { return g * rsqrt((1 - x) * (1 + x)); }
Value of_arccos(const Value& g, const Value& x, const Value&) { return -(g * rsqrt((1 - x) * (1 + x))); }
Value of_arctan(const Value& g, const Value& x, const Value&) { return g / (x * x + 1); }

Value of_sinh(const Value& g, const Value& x, const Value&) { return g * cosh(x); }
Value of_cosh(const Value& g, const Value& x, const Value&) { return g * sinh(x); }
Value of_arcsinh(const Value& g, const Value& x, const Value&) { return g * rsqrt(x * x + 1); }
Value of_arccosh(const Value& g, const Value& x, const Value&) { return g * rsqrt((x - 1) * (x + 1)); }
Value of_arctanh(const Value& g, const Value& x, const Value&) { return g / ((1 - x) * (1 + x)); }

Value of_erf(const Value& g, const Value& x, const Value&) { return g * exp(-(x * x)) * (2 / sqrt_pi); }
Value of_erfc(const Value& g, const Value& x, const Value&) { return g * exp(-(x * x)) * (-2 / sqrt_pi); }
Value of_erfinv(const Value& g, const Value&, const Value& y) { return g * exp(y * y) * (sqrt_pi / 2); }
// NOLINTEND(misc-unused-parameters)

Values hypot_gradient(const GradientContext& context) {
  const Value& y = context.output();
  const Value divisor = where(equal(y, 0), 1, y);  // the gradient at (0, 0) is 0
  Values out(2);
  for (std::size_t i = 0; i < 2; ++i) {
    if (!context.needs(i)) continue;
    const Value g = detail::cotangent_for(context, i);
    out[i] = detail::reduce_to_input(context, i, g * (context.input(i) / divisor));
  }
  return out;
}

// d atan2(a, b) = (b da - a db) / (a^2 + b^2), divided by the root twice, since the square may overflow.
Values arctan2_gradient(const GradientContext& context) {
  const Value &a = context.input(0), &b = context.input(1);
  const Value length = hypot(a, b), radius = where(equal(length, 0), 1, length);
  const Value infinite = isinf(length);  // the gradient is 0 there and at (0, 0)
  const auto slope = [&](const Value& x) { return where(infinite, 0.0, x / radius) / radius; };
  Values out(2);
  if (context.needs(0)) {
    out[0] = detail::reduce_to_input(context, 0, detail::cotangent_for(context, 0) * slope(b));
  }
  if (context.needs(1)) {
    out[1] = -detail::reduce_to_input(context, 1, detail::cotangent_for(context, 1) * slope(a));
  }
  return out;
}

// The weights are those of a softmax of a and b. For equal operands, also infinite ones, each weight is one half.
Values logaddexp_gradient(const GradientContext& context) {
  const Value &a = context.input(0), &b = context.input(1);
  const Value difference = where(equal(a, b), 0, a - b);
  Values out(2);
  for (std::size_t i = 0; i < 2; ++i) {
    if (!context.needs(i)) continue;
    const Value weight = sigmoid(i == 0 ? difference : -difference);
    out[i] = detail::reduce_to_input(context, i, detail::cotangent_for(context, i) * weight);
  }
  return out;
}

std::vector<Spec> infer_floats(const OpCall& call) {
  detail::require_float(call, 0);
  return detail::infer_broadcast(call);
}

Op of_two_floats(Values (*gradient)(const GradientContext&)) {
  Op op;
  op.cast.floats_only = true;
  op.infer = infer_floats;
  op.gradient = gradient;
  return op;
}

}  // namespace

Op detail::define_sqrt() { return of_float<of_sqrt>(); }
Op detail::define_rsqrt() { return of_float<of_rsqrt>(); }
Op detail::define_cbrt() { return of_float<of_cbrt>(); }
Op detail::define_exp2() { return of_float<of_exp2>(); }
Op detail::define_expm1() { return of_float<of_expm1>(); }
Op detail::define_log10() { return of_float<of_log10>(); }
Op detail::define_log1p() { return of_float<of_log1p>(); }
Op detail::define_log2() { return of_float<of_log2>(); }
Op detail::define_sin() { return of_float<of_sin>(); }
Op detail::define_cos() { return of_float<of_cos>(); }
Op detail::define_tan() { return of_float<of_tan>(); }
Op detail::define_arcsin() { return of_float<of_arcsin>(); }
Op detail::define_arccos() { return of_float<of_arccos>(); }
Op detail::define_arctan() { return of_float<of_arctan>(); }
Op detail::define_sinh() { return of_float<of_sinh>(); }
Op detail::define_cosh() { return of_float<of_cosh>(); }
Op detail::define_arcsinh() { return of_float<of_arcsinh>(); }
Op detail::define_arccosh() { return of_float<of_arccosh>(); }
Op detail::define_arctanh() { return of_float<of_arctanh>(); }
Op detail::define_erf() { return of_float<of_erf>(); }
Op detail::define_erfc() { return of_float<of_erfc>(); }
Op detail::define_erfinv() { return of_float<of_erfinv>(); }
Op detail::define_hypot() { return of_two_floats(hypot_gradient); }
Op detail::define_arctan2() { return of_two_floats(arctan2_gradient); }
Op detail::define_logaddexp() { return of_two_floats(logaddexp_gradient); }

Value hypot(const Value& x1, const Value& x2) { return insert_one(ops::hypot, {x1, x2}); }
Value arctan2(const Value& x1, const Value& x2) { return insert_one(ops::arctan2, {x1, x2}); }
Value logaddexp(const Value& x1, const Value& x2) { return insert_one(ops::logaddexp, {x1, x2}); }

Value deg2rad(const Value& x) { return x * (std::numbers::pi / 180); }
Value rad2deg(const Value& x) { return x * (180 / std::numbers::pi); }

// x is replaced by 1 where it is 0, so that no gradient is NaN there.
Value sinc(const Value& x) {
  const Value zero = equal(x, 0);
  const Value scaled = where(zero, 1.0, x) * std::numbers::pi;
  return where(zero, 1.0, sin(scaled) / scaled);
}

// Halves of the exponent, so that neither power overflows where the result doesn't.
Value ldexp(const Value& x1, const Value& x2) {
  if (x2.weak()) {
    const double number = x2.item(), below = std::floor(number * 0.5);
    return x1 * std::exp2(below) * std::exp2(number - below);
  }
  const Value half = floor(x2 * 0.5);
  return x1 * exp2(half) * exp2(x2 - half);
}

Value logaddexp2(const Value& x1, const Value& x2) {
  const auto scaled = [](const Value& x) { return x.weak() ? Value(x.item() * ln_2) : x * ln_2; };
  return logaddexp(scaled(x1), scaled(x2)) * (1 / ln_2);
}

}  // namespace mezzo
