#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

std::vector<Spec> infer_softmax_gradient(const OpCall& call) {
  detail::require_cotangent(call, 1, call.inputs[0].shape);
  return detail::infer_same(call);
}

// Uses the output, so that the input need not be kept.
Values gradient_of_softmax(const GradientContext& context) {
  return {insert_one(ops::softmax_gradient, {context.output(), context.cotangent()}, context.attributes())};
}

}  // namespace

Op detail::define_softmax() {
  Op op;
  op.cast.floats_only = true;
  op.infer = infer_same;
  op.gradient = gradient_of_softmax;
  return op;
}

Op detail::define_softmax_gradient() {
  Op op;
  op.infer = infer_softmax_gradient;
  return op;
}

Value softmax(const Value& x, std::int64_t axis) {
  return insert_one(ops::softmax, {x}, {{"axis", normalize_axis(axis, x.shape().size(), current_label("softmax"))}});
}

}  // namespace mezzo
