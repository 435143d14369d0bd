#include <mezzo/core/fail.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/run_sizes.hpp>

namespace mezzo {
namespace {

std::vector<Spec> infer_broadcast_to(const OpCall& call) {
  Shape shape = call.attributes.get<Shape>("shape");
  const Shape& from = call.inputs[0].shape;
  for (std::size_t i = 0; i < shape.size() && i < from.size(); ++i) {
    std::int64_t& size = shape[shape.size() - 1 - i];
    if (size < 0) size = from[from.size() - 1 - i];
  }
  if (broadcast(call.inputs[0].shape, shape, call.where) != shape) {
    fail<ShapeError>(call.where, "input 0 must broadcast to {}; got shape {}", shape, call.inputs[0].shape);
  }
  return {{shape, call.inputs[0].dtype}};
}

Values broadcast_to_gradient(const GradientContext& context) {
  return {detail::reduce_to_input(context, 0, context.cotangent())};
}

}  // namespace

Op detail::define_broadcast_to() {
  Op op;
  op.infer = infer_broadcast_to;
  op.gradient = broadcast_to_gradient;
  return op;
}

Value broadcast_to(const Value& x, const Shape& shape) {
  return insert_one(ops::broadcast_to, {x}, {{"shape", shape}});
}

Value broadcast_to(const Value& x, std::initializer_list<Size> shape) {
  return broadcast_to(x, detail::numbers_of(shape));
}

Value broadcast_to(const Value& x, const Values& shape) {
  const std::string where = detail::current_label("broadcast_to");
  return detail::with_run_sizes(where, {x}, shape, {detail::known_part(shape, where), x.dtype()},
                                [](const Values& xs, const Shape& sizes) { return broadcast_to(xs[0], sizes); });
}

}  // namespace mezzo
