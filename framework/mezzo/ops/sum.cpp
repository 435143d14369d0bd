#include <mezzo/core/fail.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

#include <algorithm>

namespace mezzo {
namespace {

std::vector<Spec> infer_reduce(const OpCall& call) {
  const auto& axes = call.attributes.get<Shape>("axes");
  const bool keepdims = call.attributes.get<bool>("keepdims");
  Shape shape;
  for (std::size_t i = 0; i < call.inputs[0].shape.size(); ++i) {
    const bool reduced = std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) != axes.end();
    if (!reduced) shape.push_back(call.inputs[0].shape[i]);
    if (reduced && keepdims) shape.push_back(1);
  }
  return {{shape, call.attributes.get<DType>("dtype")}};
}

/// Broadcasts g from the output's shape back over the reduced axes.
Value stretch(const GradientContext& context, const Value& g) {
  Shape kept = context.input(0).shape();
  for (const auto axis : context.attributes().get<Shape>("axes")) kept[static_cast<std::size_t>(axis)] = 1;
  return broadcast_to(g.shape() == kept ? g : reshape(g, kept), context.input(0).shape());
}

Values sum_gradient(const GradientContext& context) { return {stretch(context, detail::cotangent_for(context, 0))}; }

Values mean_gradient(const GradientContext& context) {
  double count = 1;
  for (const auto axis : context.attributes().get<Shape>("axes")) {
    count *= static_cast<double>(context.input(0).shape()[static_cast<std::size_t>(axis)]);
  }
  // A 16-bit 1 / count would lose digits, or underflow.
  const Value g = detail::as(context.cotangent(), accumulation_dtype(context.dtype(0))) * (1 / count);
  return {stretch(context, detail::as(g, context.dtype(0)))};
}

/// Inserts a reduction. `dtype`: of the output.
Value reduce(const Op& op, const Value& x, const ReduceOptions& options, DType dtype) {
  const std::size_t rank = x.shape().size();
  Shape axes;
  for (const auto axis : options.axes) axes.push_back(normalize_axis(axis, rank, current_label(op.name)));
  for (std::size_t i = 0; options.axes.empty() && i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) {
    fail<ValueError>(current_label(op.name), "axes must differ; got {}", detail::numbers_text(options.axes));
  }
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
  op.infer = infer_reduce;
  op.gradient = sum_gradient;
  return op;
}

Op detail::define_mean() {
  Op op;
  op.reinsert = reinsert<mean>;
  op.cast.floats_only = true;
  op.infer = infer_reduce;
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
