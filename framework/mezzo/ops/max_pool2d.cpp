#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/open_sizes.hpp>
#include <mezzo/ops/pool2d.hpp>
#include <mezzo/ops/pooling.hpp>
#include <mezzo/ops/spatial_axes.hpp>

namespace mezzo {
namespace {

std::vector<Spec> infer_max_pool2d(const OpCall& call) {
  detail::require_float(call, 0);
  detail::require_rank(call, 0, 4, "(batch, height, width, channels)");
  const Shape out = detail::pooled_shape(call, call.inputs[0].shape);
  const auto& window = call.attributes.get<Shape>("window");
  const DType index = window[0] * window[1] <= 256 ? DType::uint8 : DType::int32;
  return {{out, call.inputs[0].dtype}, {out, index}};
}

std::vector<Spec> infer_max_pool2d_gradient(const OpCall& call) {
  const auto& shape = call.attributes.get<Shape>("shape");
  detail::require_cotangent(call, 0, detail::pooled_shape(call, shape));
  return {{shape, call.inputs[0].dtype}};
}

Values max_pool2d_gradient(const GradientContext& context) {
  return {insert_one(ops::max_pool2d_gradient, {context.cotangent(), context.output(1)},
                     detail::with(context.attributes(), {{"shape", context.input(0).shape()}}))};
}

}  // namespace

Op detail::define_max_pool2d() {
  Op op;
  op.cast.floats_only = true;
  op.infer = infer_max_pool2d;
  op.gradient = max_pool2d_gradient;
  return op;
}

Op detail::define_max_pool2d_gradient() {
  Op op;
  op.cast.operands = {Cast::promote, Cast::keep};
  op.infer = infer_max_pool2d_gradient;
  return op;
}

Value max_pool2d(const Value& x, const MaxPool2DOpOptions& options) {
  if (detail::has_open_size(x)) {
    return with_sizes([options](const Value& y) { return max_pool2d(y, options); }, x,
                      detail::reach_of(options.pool_size.numbers()));
  }
  return insert(ops::max_pool2d, {x},
                detail::pooling_attributes(detail::current_label("max_pool2d"), x, options.pool_size, options.strides,
                                           options.padding))
      .front();
}

}  // namespace mezzo
