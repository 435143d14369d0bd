#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/reductions.hpp>

namespace mezzo {
namespace {

Value scan(const Value& x, std::int64_t axis, bool reverse) {
  return insert_one(ops::cumprod, {x}, {{"axis", axis}, {"reverse", reverse}, {"exclusive", true}});
}

// The derivative with respect to an element is the product of the others: the product of the earlier elements times the
// product of the later ones.
Values prod_gradient(const GradientContext& context) {
  const Value& x = context.input(0);
  const auto& axes = context.attributes().get<Shape>("axes");
  const Shape& shape = x.shape();
  Shape order, kept;
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(shape.size()); ++axis) {
    bool reduced = false;
    for (const auto other : axes) reduced = reduced || other == axis;
    if (!reduced) order.push_back(axis);
    if (!reduced) kept.push_back(shape[static_cast<std::size_t>(axis)]);
  }
  order.insert(order.end(), axes.begin(), axes.end());
  Shape moved;
  for (const auto axis : order) moved.push_back(shape[static_cast<std::size_t>(axis)]);
  const DType wide = accumulation_dtype(x.dtype());
  const Value lines =
      reshape(transpose(detail::as(x, wide), order), {element_count(kept), detail::count_along(shape, axes)});
  Value others = scan(lines, 1, false) * scan(lines, 1, true);
  others = transpose(reshape(others, moved), detail::inverse_permutation(order));
  return {detail::stretch(detail::as(context.cotangent(), wide), axes, shape) * others};
}

}  // namespace

Op detail::define_prod() {
  Op op;
  op.infer = infer_reduction;
  op.gradient = prod_gradient;
  return op;
}

Value prod(const Value& x, const ReduceOptions& options) {
  const Shape axes = detail::normalize_axes(options.axes, x.shape().size(), detail::current_label("prod"));
  const Value number = is_floating(x.dtype()) ? x : detail::as(x, DType::int64);
  return insert_one(ops::prod, {number}, {{"axes", axes}, {"keepdims", options.keepdims}});
}

}  // namespace mezzo
