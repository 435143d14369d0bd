#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

std::vector<Spec> infer_sigmoid_gradient(const OpCall& call) {
  detail::require_cotangent(call, 1, call.inputs[0].shape);
  return detail::infer_same(call);
}

// Uses the output, so that the input need not be kept.
Values gradient_of_sigmoid(const GradientContext& context) {
  return {insert_one(ops::sigmoid_gradient, {context.output(), context.cotangent()})};
}

Values gradient_of_sigmoid_gradient(const GradientContext& context) {
  Values out(2);
  if (context.needs(0)) out[0] = context.cotangent() * context.input(1) * (1 - context.input(0) * 2);
  if (context.needs(1)) out[1] = insert_one(ops::sigmoid_gradient, {context.input(0), context.cotangent()});
  return out;
}

}  // namespace

Op detail::define_sigmoid() {
  Op op;
  op.cast.floats_only = true;
  op.infer = infer_same;
  op.gradient = gradient_of_sigmoid;
  return op;
}

Op detail::define_sigmoid_gradient() {
  Op op;
  op.infer = infer_sigmoid_gradient;
  op.gradient = gradient_of_sigmoid_gradient;
  return op;
}

}  // namespace mezzo
