#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/open_sizes.hpp>
#include <mezzo/ops/pool2d.hpp>
#include <mezzo/ops/pooling.hpp>
#include <mezzo/ops/spatial_axes.hpp>

namespace mezzo {
namespace {

std::vector<Spec> infer_avg_pool2d(const OpCall& call) {
  detail::require_float(call, 0);
  detail::require_rank(call, 0, 4, "(batch, height, width, channels)");
  return {{detail::pooled_shape(call, call.inputs[0].shape), call.inputs[0].dtype}};
}

std::vector<Spec> infer_avg_pool2d_gradient(const OpCall& call) {
  const auto& shape = call.attributes.get<Shape>("shape");
  detail::require_cotangent(call, 0, detail::pooled_shape(call, shape));
  return {{shape, call.inputs[0].dtype}};
}

Values avg_pool2d_gradient(const GradientContext& context) {
  return {insert_one(ops::avg_pool2d_gradient, {context.cotangent()},
                     detail::with(context.attributes(), {{"shape", context.input(0).shape()}}))};
}

}  // namespace

Op detail::define_avg_pool2d() {
  Op op;
  op.cast.floats_only = true;
  op.infer = infer_avg_pool2d;
  op.gradient = avg_pool2d_gradient;
  return op;
}

Op detail::define_avg_pool2d_gradient() {
  Op op;
  op.infer = infer_avg_pool2d_gradient;
  return op;
}

Value avg_pool2d(const Value& x, const AvgPool2DOpOptions& options) {
  if (detail::has_open_size(x)) {
    return with_sizes([options](const Value& y) { return avg_pool2d(y, options); }, x,
                      detail::reach_of(options.pool_size.numbers()));
  }
  const Attributes attributes = detail::pooling_attributes(detail::current_label("avg_pool2d"), x, options.pool_size,
                                                           options.strides, options.padding);
  return insert_one(
      ops::avg_pool2d, {x},
      detail::with(attributes, {{"count_padding", options.count_padding.value_or(options.padding.numeric())}}));
}

}  // namespace mezzo
