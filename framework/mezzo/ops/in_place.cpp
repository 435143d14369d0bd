#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {
namespace {

/// An op that inserts nodes of `runs`. If no op list names it, its second operand takes the dtype of the first.
Op following(const Op& runs, detail::CastRule cast = {}) {
  Op op;
  op.cast = std::move(cast);
  op.cast.by_first = true;
  op.runs = &runs;
  op.infer = detail::infer_broadcast;
  return op;
}

Value& assign(const Op& op, Value& a, const Value& b) { return a = insert_one(op, {a, b}); }

}  // namespace

Op detail::define_bias_add() { return following(ops::add); }
Op detail::define_iadd() { return following(ops::add); }
Op detail::define_isub() { return following(ops::subtract); }
Op detail::define_imul() { return following(ops::multiply); }
Op detail::define_itruediv() { return following(ops::divide, {.operands = {Cast::promote}, .floats_only = true}); }

Value bias_add(const Value& x, const Value& bias) { return insert_one(ops::bias_add, {x, bias}); }
Value& operator+=(Value& a, const Value& b) { return assign(ops::iadd, a, b); }
Value& operator-=(Value& a, const Value& b) { return assign(ops::isub, a, b); }
Value& operator*=(Value& a, const Value& b) { return assign(ops::imul, a, b); }
Value& operator/=(Value& a, const Value& b) { return assign(ops::itruediv, a, b); }

}  // namespace mezzo
