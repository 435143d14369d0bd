#include <mezzo/core/fail.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/reductions.hpp>

namespace mezzo {
namespace {

std::vector<Spec> infer_extreme(const OpCall& call) {
  const Shape& shape = call.inputs[0].shape;
  const std::vector<Spec> out = detail::infer_reduction(call);
  const auto& axes = call.attributes.get<Shape>("axes");
  if (detail::count_along(shape, axes) == 0 && element_count(out[0].shape) != 0) {
    fail<ShapeError>(call.where, "needs an element along axes {}; got shape {}", detail::numbers_text(axes), shape);
  }
  return out;
}

// Equal elements share the cotangent.
Values extreme_gradient(const GradientContext& context) {
  const Value& x = context.input(0);
  const auto& axes = context.attributes().get<Shape>("axes");
  const DType wide = accumulation_dtype(x.dtype());
  const Value chosen = equal(x, detail::stretch(context.output(), axes, x.shape()));
  const Value count = detail::sum_as(cast(chosen, wide), axes, context.attributes().get<bool>("keepdims"), wide);
  const Value share = detail::as(detail::as(context.cotangent(), wide) / count, context.dtype(0));
  return {where(chosen, detail::stretch(share, axes, x.shape()), 0.0)};
}

Op extreme_op() {
  Op op;
  op.infer = infer_extreme;
  op.gradient = extreme_gradient;
  return op;
}

Value reduce_extreme(const Op& op, const Value& x, const ReduceOptions& options) {
  const Shape axes = detail::normalize_axes(options.axes, x.shape().size(), detail::current_label(op.name));
  return insert_one(op, {x}, {{"axes", axes}, {"keepdims", options.keepdims}});
}

}  // namespace

Op detail::define_max() { return extreme_op(); }

Op detail::define_min() { return extreme_op(); }

Value max(const Value& x, const ReduceOptions& options) { return reduce_extreme(ops::max, x, options); }

Value min(const Value& x, const ReduceOptions& options) { return reduce_extreme(ops::min, x, options); }

Value ptp(const Value& x, const ReduceOptions& options) { return max(x, options) - min(x, options); }

}  // namespace mezzo
