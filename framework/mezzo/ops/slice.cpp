#include <mezzo/core/fail.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

std::vector<Spec> infer_slice(const OpCall& call) {
  const auto& starts = call.attributes.get<Shape>("starts");
  const auto& sizes = call.attributes.get<Shape>("sizes");
  Spec out = call.inputs[0];
  detail::require_number_for_each_axis(call, "starts", starts);
  detail::require_number_for_each_axis(call, "sizes", sizes);
  for (std::size_t axis = 0; axis < starts.size(); ++axis) {
    const std::int64_t size = out.shape[axis], start = starts[axis];
    const std::int64_t taken = sizes[axis] >= 0 || size < 0 ? sizes[axis] : size - start;
    if (start < 0 || sizes[axis] < -1 || (size >= 0 && (taken < 0 || start + taken > size))) {
      const std::string count = sizes[axis] == -1 ? "" : fmt::format("{} ", sizes[axis]);
      fail<ShapeError>(call.where, "input axis {} has no {}elements from {} on; got shape {}", axis, count, start,
                       call.inputs[0].shape);
    }
    out.shape[axis] = taken;
  }
  return {out};
}

Values slice_gradient(const GradientContext& context) {
  const Shape& whole = context.input(0).shape();
  const Shape& part = context.output_spec().shape;
  const auto& starts = context.attributes().get<Shape>("starts");
  Shape after(whole.size());
  for (std::size_t axis = 0; axis < whole.size(); ++axis) after[axis] = whole[axis] - starts[axis] - part[axis];
  return {pad(context.cotangent(), {starts, after})};
}

}  // namespace

Op detail::define_slice() {
  Op op;
  op.infer = infer_slice;
  op.gradient = slice_gradient;
  return op;
}

Value slice(const Value& x, const SliceOptions& options) {
  return insert_one(ops::slice, {x}, {{"starts", options.starts}, {"sizes", options.sizes}});
}

}  // namespace mezzo
