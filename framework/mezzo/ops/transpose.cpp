#include <mezzo/core/fail.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

#include <algorithm>

namespace mezzo {
namespace {

std::vector<Spec> infer_transpose(const OpCall& call) {
  const auto& permutation = call.attributes.get<Shape>("permutation");
  Shape sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  bool good = sorted.size() == call.inputs[0].shape.size();
  for (std::size_t i = 0; good && i < sorted.size(); ++i) good = sorted[i] == static_cast<std::int64_t>(i);
  if (!good) {
    fail<ShapeError>(call.where, "permutation must hold each axis of {} once; got {}", call.inputs[0].shape,
                     detail::numbers_text(permutation));
  }
  Shape shape;
  for (const auto axis : permutation) shape.push_back(call.inputs[0].shape[static_cast<std::size_t>(axis)]);
  return {{shape, call.inputs[0].dtype}};
}

Values transpose_gradient(const GradientContext& context) {
  const auto& permutation = context.attributes().get<Shape>("permutation");
  return {transpose(detail::cotangent_for(context, 0), detail::inverse_permutation(permutation))};
}

}  // namespace

Op detail::define_transpose() {
  Op op;
  op.infer = infer_transpose;
  op.gradient = transpose_gradient;
  return op;
}

Value transpose(const Value& x, const Shape& permutation) {
  Shape axes = permutation;
  for (std::size_t i = x.shape().size(); permutation.empty() && i-- > 0;) axes.push_back(static_cast<std::int64_t>(i));
  return insert_one(ops::transpose, {x}, {{"permutation", axes}});
}

}  // namespace mezzo
