#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

std::vector<Spec> infer_relu_gradient(const OpCall& call) {
  detail::require_cotangent(call, 1, call.inputs[0].shape);
  return detail::infer_same(call);
}

std::vector<Spec> infer_relu_bias_gradient(const OpCall& call) {
  detail::require_cotangent(call, 1, call.inputs[0].shape);
  return {call.inputs[0], {{call.inputs[0].shape.back()}, accumulation_dtype(call.inputs[0].dtype)}};
}

// Uses the output, so that the input need not be kept.
Values gradient_of_relu(const GradientContext& context) {
  return {insert_one(ops::relu_gradient, {context.output(), context.cotangent()}, context.attributes())};
}

Values gradient_of_relu_gradient(const GradientContext& context) {
  Values out(2);
  if (context.needs(1)) {
    out[1] = insert_one(ops::relu_gradient, {context.input(0), context.cotangent()}, context.attributes());
  }
  return out;
}

}  // namespace

Op detail::define_relu() {
  Op op;
  op.cast.floats_only = true;
  op.infer = infer_same;
  op.gradient = gradient_of_relu;
  return op;
}

Op detail::define_relu_gradient() {
  Op op;
  op.infer = infer_relu_gradient;
  op.gradient = gradient_of_relu_gradient;
  return op;
}

Op detail::define_relu_bias_gradient() {
  Op op;
  op.infer = infer_relu_bias_gradient;
  return op;
}

}  // namespace mezzo
