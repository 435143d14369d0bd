#include <mezzo/core/fail.hpp>
#include <mezzo/ops/elementwise.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

// Rounding to integers, and divisions with remainder.
namespace mezzo {
namespace {

Op rounding() {
  Op op;
  op.cast.floats_only = true;
  op.infer = detail::infer_same;
  return op;
}

/// a has the cotangent, b the cotangent times minus the rounded quotient.
template <Value (*rounded)(const Value&)>
Values remainder_gradient(const GradientContext& context) {
  Values out(2);
  if (context.needs(0)) out[0] = detail::reduce_to_input(context, 0, context.cotangent());
  if (context.needs(1)) {
    const Value quotient = rounded(context.input(0) / context.input(1));
    out[1] = -detail::reduce_to_input(context, 1, detail::cotangent_for(context, 1) * quotient);
  }
  return out;
}

Op of_numbers(Values (*gradient)(const GradientContext&)) {
  Op op;
  op.infer = detail::infer_broadcast;
  if (gradient != nullptr) op.gradient = gradient;
  return op;
}

}  // namespace

Op detail::define_ceil() { return rounding(); }
Op detail::define_floor() { return rounding(); }
Op detail::define_round() { return rounding(); }
Op detail::define_trunc() { return rounding(); }
Op detail::define_mod() { return of_numbers(remainder_gradient<floor>); }
Op detail::define_fmod() { return of_numbers(remainder_gradient<trunc>); }
Op detail::define_floor_divide() { return of_numbers(nullptr); }

Value trunc(const Value& x) { return is_floating(x.dtype()) ? insert_one(ops::trunc, {x}) : x; }

Value round(const Value& x, std::int64_t decimals) {
  constexpr std::int64_t most = 300;  // powers of 10 that double holds
  if (decimals < -most || decimals > most) {
    fail<ValueError>(detail::current_label("round"), "decimals must lie in [-300, 300]; got {}", decimals);
  }
  if (!is_floating(x.dtype()) && decimals >= 0) return x;
  if (decimals == 0) return insert_one(ops::round, {x});
  double factor = 1;
  for (std::int64_t i = 0; i < (decimals < 0 ? -decimals : decimals); ++i) factor *= 10;
  if (is_floating(x.dtype())) {
    return decimals > 0 ? insert_one(ops::round, {x * factor}) / factor : insert_one(ops::round, {x / factor}) * factor;
  }
  return cast(insert_one(ops::round, {cast(x, DType::float64) / factor}) * factor, x.dtype());
}

Value mod(const Value& x1, const Value& x2) { return insert_one(ops::mod, {x1, x2}); }
Value fmod(const Value& x1, const Value& x2) { return insert_one(ops::fmod, {x1, x2}); }
Value floor_divide(const Value& x1, const Value& x2) { return insert_one(ops::floor_divide, {x1, x2}); }

}  // namespace mezzo
