#include <mezzo/ops/activations.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

Values gradient_of_silu(const GradientContext& context) {
  return {insert_one(ops::silu_gradient, {context.input(0), context.cotangent()})};
}

// With the sigmoid s and s' = s (1 - s), the derivative of s + x s' is s' (2 + x (1 - 2 s)).
Values gradient_of_silu_gradient(const GradientContext& context) {
  const Value &x = context.input(0), &g = context.input(1);
  const Value s = sigmoid(x);
  const Value curve = s * (1.0 - s) * (x * (1.0 - 2.0 * s) + 2.0);
  return {context.cotangent() * g * curve, insert_one(ops::silu_gradient, {x, context.cotangent()})};
}

std::vector<Spec> infer_silu_gradient(const OpCall& call) {
  detail::require_cotangent(call, 1, call.inputs[0].shape);
  return detail::infer_same(call);
}

}  // namespace

Op detail::define_silu() {
  Op op;
  op.cast.floats_only = true;
  op.infer = infer_same;
  op.gradient = gradient_of_silu;
  return op;
}

Op detail::define_silu_gradient() {
  Op op;
  op.infer = infer_silu_gradient;
  op.gradient = gradient_of_silu_gradient;
  return op;
}

Value silu(const Value& x) { return insert_one(ops::silu, {x}); }

}  // namespace mezzo
