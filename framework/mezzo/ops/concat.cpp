#include <mezzo/core/fail.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

std::vector<Spec> infer_concat(const OpCall& call) {
  const auto axis = static_cast<std::size_t>(call.attributes.get<std::int64_t>("axis"));
  Spec out = call.inputs.front();
  for (std::size_t i = 1; i < call.inputs.size(); ++i) {
    const Shape& shape = call.inputs[i].shape;
    Shape other = shape;
    if (shape.size() == out.shape.size()) other[axis] = out.shape[axis];
    for (std::size_t k = 0; k < other.size() && other.size() == out.shape.size(); ++k) {  // an open size fits all
      if (other[k] < 0) other[k] = out.shape[k];
      if (out.shape[k] < 0 && k != axis) out.shape[k] = other[k];
    }
    if (other != out.shape) {
      fail<ShapeError>(call.where, "inputs must have equal sizes on all axes except {}; got {} and {}", axis,
                       call.inputs.front().shape, shape);
    }
    std::int64_t& size = out.shape[axis];
    size = size < 0 || shape[axis] < 0 ? -1 : size + shape[axis];
  }
  return {out};
}

Values concat_gradient(const GradientContext& context) {
  const auto axis = static_cast<std::size_t>(context.attributes().get<std::int64_t>("axis"));
  Values out(context.input_count());
  Shape starts(context.output_spec().shape.size(), 0);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Shape& sizes = context.input(i).shape();
    if (context.needs(i)) out[i] = slice(context.cotangent(), {starts, sizes});
    starts[axis] += sizes[axis];
  }
  return out;
}

}  // namespace

Op detail::define_concat() {
  Op op;
  op.infer = infer_concat;
  op.gradient = concat_gradient;
  return op;
}

Value concat(const Values& values, std::int64_t axis) {
  const std::string where = detail::current_label("concat");
  if (values.empty()) fail<ValueError>(where, "takes at least one input; got 0");
  return insert_one(ops::concat, values, {{"axis", detail::normalize_axis(axis, values[0].shape().size(), where)}});
}

}  // namespace mezzo
