#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

std::vector<Spec> infer_gelu_gradient(const OpCall& call) {
  detail::require_cotangent(call, 1, call.inputs[0].shape);
  return detail::infer_same(call);
}

// Uses the input: gelu has a minimum, so the output does not determine the derivative.
Values gradient_of_gelu(const GradientContext& context) {
  return {insert_one(ops::gelu_gradient, {context.input(0), context.cotangent()}, context.attributes())};
}

}  // namespace

Op detail::define_gelu() {
  Op op;
  op.cast.floats_only = true;
  op.infer = infer_same;
  op.gradient = gradient_of_gelu;
  return op;
}

Op detail::define_gelu_gradient() {
  Op op;
  op.infer = infer_gelu_gradient;
  return op;
}

Value gelu(const Value& x, bool approximate) { return insert_one(ops::gelu, {x}, {{"approximate", approximate}}); }

}  // namespace mezzo
