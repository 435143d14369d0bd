#include <mezzo/core/fail.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

std::vector<Spec> infer_where(const OpCall& call) {
  if (call.inputs[0].dtype != DType::boolean) {
    fail<DTypeError>(call.where, "the condition must be bool; got {}", call.inputs[0].dtype);
  }
  const Shape either = broadcast(call.inputs[1].shape, call.inputs[2].shape, call.where);
  return {{broadcast(call.inputs[0].shape, either, call.where), call.inputs[1].dtype}};
}

Values where_gradient(const GradientContext& context) {
  const Value& condition = context.input(0);
  const Value& g = context.cotangent();
  Values out(3);
  if (context.needs(1)) out[1] = detail::reduce_to_input(context, 1, where(condition, g, 0.0));
  if (context.needs(2)) out[2] = detail::reduce_to_input(context, 2, where(condition, 0.0, g));
  return out;
}

}  // namespace

Op detail::define_where() {
  Op op;
  op.cast.operands = {Cast::keep, Cast::promote};
  op.infer = infer_where;
  op.gradient = where_gradient;
  return op;
}

Value where(const Value& condition, const Value& a, const Value& b) {
  return insert_one(ops::where, {condition, a, b});
}

}  // namespace mezzo
