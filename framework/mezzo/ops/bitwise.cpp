#include <mezzo/core/fail.hpp>
#include <mezzo/ops/elementwise.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

// Functions of integers: bits, shifts, divisors.
namespace mezzo {
namespace {

void require_no_float(const OpCall& call) {
  if (is_floating(call.inputs[0].dtype)) {
    fail<DTypeError>(call.where, "input 0 must be bool or an integer; got {}", call.inputs[0].dtype);
  }
}

std::vector<Spec> infer_bits(const OpCall& call) {
  require_no_float(call);
  return detail::infer_broadcast(call);
}

std::vector<Spec> infer_integers(const OpCall& call) {
  if (is_floating(call.inputs[0].dtype) || call.inputs[0].dtype == DType::boolean) {
    fail<DTypeError>(call.where, "input 0 must be an integer; got {}", call.inputs[0].dtype);
  }
  return detail::infer_broadcast(call);
}

Op inferred(std::vector<Spec> (*infer)(const OpCall&)) {
  Op op;
  op.infer = infer;
  return op;
}

}  // namespace

Op detail::define_bitwise_and() { return inferred(infer_bits); }
Op detail::define_bitwise_or() { return inferred(infer_bits); }
Op detail::define_bitwise_xor() { return inferred(infer_bits); }
Op detail::define_left_shift() { return inferred(infer_integers); }
Op detail::define_right_shift() { return inferred(infer_integers); }
Op detail::define_gcd() { return inferred(infer_integers); }

Value bitwise_and(const Value& x, const Value& y) { return insert_one(ops::bitwise_and, {x, y}); }
Value bitwise_or(const Value& x, const Value& y) { return insert_one(ops::bitwise_or, {x, y}); }
Value bitwise_xor(const Value& x, const Value& y) { return insert_one(ops::bitwise_xor, {x, y}); }
Value bitwise_not(const Value& x) {
  return x.dtype() == DType::boolean ? logical_not(x) : bitwise_xor(x, Tensor::scalar(-1, DType::int8).cast(x.dtype()));
}
Value left_shift(const Value& x, const Value& y) { return insert_one(ops::left_shift, {x, y}); }
Value right_shift(const Value& x, const Value& y) { return insert_one(ops::right_shift, {x, y}); }
Value gcd(const Value& x1, const Value& x2) { return insert_one(ops::gcd, {x1, x2}); }
Value lcm(const Value& x1, const Value& x2) { return abs(floor_divide(x1, gcd(x1, x2)) * x2); }

}  // namespace mezzo
