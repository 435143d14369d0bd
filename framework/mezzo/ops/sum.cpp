#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/reductions.hpp>

namespace mezzo {
namespace {

/// Broadcasts g from the output's shape back over the reduced axes.
Value stretch(const GradientContext& context, const Value& g) {
  return detail::stretch(g, context.attributes().get<Shape>("axes"), context.input(0).shape());
}

Values sum_gradient(const GradientContext& context) { return {stretch(context, detail::cotangent_for(context, 0))}; }

Values mean_gradient(const GradientContext& context) {
  double count = 1;
  for (const auto axis : context.attributes().get<Shape>("axes")) {
    count *= static_cast<double>(context.input(0).shape()[static_cast<std::size_t>(axis)]);
  }
  // A 16-bit 1 / count would lose digits or underflow.
  const Value g = detail::as(context.cotangent(), accumulation_dtype(context.dtype(0))) * (1 / count);
  return {stretch(context, detail::as(g, context.dtype(0)))};
}

/// Inserts a reduction. `dtype`: of the output.
Value reduce(const Op& op, const Value& x, const ReduceOptions& options, DType dtype) {
  const Shape axes = detail::normalize_axes(options.axes, x.shape().size(), detail::current_label(op.name));
  return insert_one(op, {x}, {{"axes", axes}, {"keepdims", options.keepdims}, {"dtype", dtype}});
}

/// Calls the function again, because the output's dtype depends on autocast of x.
template <Value (*function)(const Value&, const ReduceOptions&)>
Values reinsert(const Values& inputs, const Attributes& attributes) {
  return {function(inputs[0], {attributes.get<Shape>("axes"), attributes.get<bool>("keepdims")})};
}

}  // namespace

Op detail::define_sum() {
  Op op;
  op.reinsert = reinsert<sum>;
  op.infer = infer_reduction;
  op.gradient = sum_gradient;
  return op;
}

Op detail::define_mean() {
  Op op;
  op.reinsert = reinsert<mean>;
  op.cast.floats_only = true;
  op.infer = infer_reduction;
  op.gradient = mean_gradient;
  return op;
}

Value sum(const Value& x, const ReduceOptions& options) {
  const DType dtype = detail::operand_dtype(ops::sum, x);
  return reduce(ops::sum, x, options, is_floating(dtype) ? dtype : DType::int64);
}

Value mean(const Value& x, const ReduceOptions& options) {
  return reduce(ops::mean, x, options, detail::operand_dtype(ops::mean, x));
}

}  // namespace mezzo
