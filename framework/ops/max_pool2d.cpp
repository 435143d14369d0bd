#include <mezzo/ops/detail/helpers.hpp>
#include <mezzo/ops/detail/table.hpp>

namespace mezzo {
namespace {

/// The output's shape from that of the image, of rank 4.
Shape pooled_shape(const OpCall& call, const Shape& x) {
  const auto& window = call.attributes.get<Shape>("window");
  const auto& strides = call.attributes.get<Shape>("strides");
  const auto& padding = call.attributes.get<Shape>("padding");
  Shape out = x;
  for (std::size_t i = 0; i < 2; ++i) {
    if (2 * padding[2 * i] > window[i] || 2 * padding[2 * i + 1] > window[i] + 1) {
      throw ValueError(call.where + " padding must be at most half of the window " + to_string(window) + "; got " +
                       std::to_string(padding[2 * i]));
    }
    const std::int64_t room = out[i + 1] + padding[2 * i] + padding[2 * i + 1] - window[i];
    if (room < 0) {
      throw ShapeError(call.where + " input axis " + std::to_string(i + 1) + " must be at least " +
                       std::to_string(window[i] - padding[2 * i] - padding[2 * i + 1]) + " (pool_size " +
                       std::to_string(window[i]) + "); got shape " + to_string(x));
    }
    out[i + 1] = room / strides[i] + 1;
  }
  return out;
}

std::vector<Spec> infer_max_pool2d(const OpCall& call) {
  detail::require_float(call, 0);
  detail::require_rank(call, 0, 4, "(batch, height, width, channels)");
  const Shape out = pooled_shape(call, call.inputs[0].shape);
  const auto& window = call.attributes.get<Shape>("window");
  const DType index = window[0] * window[1] <= 256 ? DType::uint8 : DType::int32;
  return {{out, call.inputs[0].dtype}, {out, index}};
}

std::vector<Spec> infer_gradient(const OpCall& call) {
  const auto& shape = call.attributes.get<Shape>("shape");
  detail::require_cotangent(call, 0, pooled_shape(call, shape));
  return {{shape, call.inputs[0].dtype}};
}

Values max_pool2d_gradient(const GradientContext& context) {
  return {insert_one(find_op("max_pool2d_gradient"), {context.cotangent(), context.output(1)},
                     detail::with(context.attributes(), {{"shape", context.input(0).shape()}}))};
}

}  // namespace

Op detail::max_pool2d_op() {
  Op op;
  op.name = "max_pool2d";
  op.cast.floats_only = true;
  op.infer = infer_max_pool2d;
  op.gradient = max_pool2d_gradient;
  return op;
}

Op detail::max_pool2d_gradient_op() {
  Op op;
  op.name = "max_pool2d_gradient";
  op.cast.operands = {Cast::promote, Cast::keep};
  op.infer = infer_gradient;
  return op;
}

Value max_pool2d(const Value& x, const MaxPool2DOpOptions& options) {
  const std::string where = current_label("max_pool2d");
  const Shape window = options.pool_size.pair(where, "pool_size");
  const Shape strides = options.strides.empty() ? window : options.strides.pair(where, "strides");
  Shape padding(4, 0);
  if (x.shape().size() == 4) {
    padding = options.padding.resolve(where, {x.shape()[1], x.shape()[2]}, window, strides, {1, 1});
  }
  return insert(find_op("max_pool2d"), {x}, {{"window", window}, {"strides", strides}, {"padding", padding}}).front();
}

}  // namespace mezzo
