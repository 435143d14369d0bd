#include <mezzo/ops/activations.hpp>
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

// y = log(softmax(x)) has dx = g - softmax(x) sum(g).
Values gradient_of_log_softmax(const GradientContext& context) {
  const Value &g = context.cotangent(), &y = context.output();
  const Shape axes{context.attributes().get<std::int64_t>("axis")};
  const DType wide = accumulation_dtype(y.dtype());
  const Value total = detail::sum_as(g, axes, true, wide);
  return {detail::as(detail::as(g, wide) - exp(detail::as(y, wide)) * total, context.dtype(0))};
}

}  // namespace

Op detail::define_log_softmax() {
  Op op;
  op.cast.floats_only = true;
  op.infer = infer_same;
  op.gradient = gradient_of_log_softmax;
  return op;
}

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
  return insert_one(ops::softmax, {x},
                    {{"axis", detail::normalize_axis(axis, x.shape().size(), detail::current_label("softmax"))}});
}

Value log_softmax(const Value& x, std::int64_t axis) {
  const std::int64_t normal = detail::normalize_axis(axis, x.shape().size(), detail::current_label("log_softmax"));
  return insert_one(ops::log_softmax, {x}, {{"axis", normal}});
}

}  // namespace mezzo
