#include <limits>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/creation.hpp>
#include <mezzo/ops/elementwise.hpp>
#include <mezzo/ops/exact_numbers.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/numpy.hpp>
#include <mezzo/ops/op_set.hpp>

// Comparisons, functions of bools, and tests of numbers. equal is in a separate file.
namespace mezzo {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<Spec> infer_comparison(const OpCall& call) {
  return {{detail::infer_broadcast(call).front().shape, DType::boolean}};
}

void require_bool(const OpCall& call, std::size_t i) {
  if (call.inputs[i].dtype != DType::boolean) {
    fail<DTypeError>(call.where, "input {} must be bool; got {}", i, call.inputs[i].dtype);
  }
}

std::vector<Spec> infer_bools(const OpCall& call) {
  for (std::size_t i = 0; i < call.inputs.size(); ++i) require_bool(call, i);
  return call.inputs.size() == 1 ? call.inputs : detail::infer_broadcast(call);
}

template <bool or_equal>
Op comparison() {
  Op op;
  op.infer = infer_comparison;
  op.reinsert = [](const Values& xs, const Attributes&) { return Values{detail::ordered(xs[0], xs[1], or_equal)}; };
  return op;
}

Op of_bools() {
  Op op;
  op.cast.operands = {Cast::keep};
  op.infer = infer_bools;
  return op;
}

/// x as bool: true where it is not 0. A number is a scalar.
Value truth(const Value& x) {
  return x.weak() ? Value(x.tensor().cast(DType::boolean)) : detail::as(x, DType::boolean);
}

/// The sign bit of floats: 1 / x distinguishes -0 from 0.
Value float_sign_bit(const Value& x) { return logical_or(less(x, 0), less(reciprocal(x), 0)); }

}  // namespace

Op detail::define_less() { return comparison<false>(); }
Op detail::define_less_equal() { return comparison<true>(); }
Op detail::define_logical_and() { return of_bools(); }
Op detail::define_logical_or() { return of_bools(); }
Op detail::define_logical_not() { return of_bools(); }

Value less(const Value& x1, const Value& x2) { return detail::ordered(x1, x2, false); }
Value less_equal(const Value& x1, const Value& x2) { return detail::ordered(x1, x2, true); }
Value greater(const Value& x1, const Value& x2) { return less(x2, x1); }
Value greater_equal(const Value& x1, const Value& x2) { return less_equal(x2, x1); }
Value not_equal(const Value& x1, const Value& x2) { return logical_not(equal(x1, x2)); }

Value logical_and(const Value& x1, const Value& x2) { return insert_one(ops::logical_and, {truth(x1), truth(x2)}); }
Value logical_or(const Value& x1, const Value& x2) { return insert_one(ops::logical_or, {truth(x1), truth(x2)}); }
Value logical_xor(const Value& x1, const Value& x2) { return not_equal(truth(x1), truth(x2)); }
Value logical_not(const Value& x) { return insert_one(ops::logical_not, {truth(x)}); }

Value isnan(const Value& x) { return not_equal(x, x); }
Value isinf(const Value& x) { return is_floating(x.dtype()) ? equal(abs(x), infinity) : not_equal(x, x); }
Value isposinf(const Value& x) { return is_floating(x.dtype()) ? equal(x, infinity) : not_equal(x, x); }
Value isneginf(const Value& x) { return is_floating(x.dtype()) ? equal(x, -infinity) : not_equal(x, x); }
Value isfinite(const Value& x) { return is_floating(x.dtype()) ? less(abs(x), infinity) : equal(x, x); }
Value signbit(const Value& x) { return is_floating(x.dtype()) ? float_sign_bit(x) : less(x, 0); }

Value isclose(const Value& x1, const Value& x2, const IsCloseOptions& options) {
  const Value near = less_equal(abs(x1 - x2), abs(x2) * options.rtol + options.atol);
  const Value finite = logical_and(isfinite(x1), isfinite(x2));
  const Value close = logical_or(equal(x1, x2), logical_and(near, finite));
  return options.equal_nan ? logical_or(close, logical_and(isnan(x1), isnan(x2))) : close;
}

Value allclose(const Value& x1, const Value& x2, double rtol, double atol, bool equal_nan) {
  IsCloseOptions options;
  options.rtol = rtol;
  options.atol = atol;
  options.equal_nan = equal_nan;
  return all(isclose(x1, x2, options));
}

Value isreal(const Value& x) { return ones_like(x, DType::boolean); }

}  // namespace mezzo
