#include <mezzo/core/fail.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/reductions.hpp>

namespace mezzo {
namespace {

std::vector<Spec> infer_argmax(const OpCall& call) {
  Shape shape = call.inputs[0].shape;
  const auto axis = call.attributes.get<std::int64_t>("axis");
  if (shape[static_cast<std::size_t>(axis)] == 0) {
    fail<ShapeError>(call.where, "input axis {} must be at least 1; got shape {}", axis, shape);
  }
  shape.erase(shape.begin() + axis);
  return {{shape, DType::int64}};
}

Op position() {
  Op op;
  op.infer = infer_argmax;
  return op;
}

}  // namespace

Op detail::define_argmax() { return position(); }

Op detail::define_argmin() { return position(); }

namespace {

Value arg_along(const Op& op, const Value& x, std::int64_t axis) {
  if (!x.defined()) return insert_one(op, {x}, {{"axis", axis}});  // an error
  return insert_one(op, {x},
                    {{"axis", detail::normalize_axis(axis, x.shape().size(), detail::current_label(op.name))}});
}

}  // namespace

Value argmax(const Value& x, std::int64_t axis) { return arg_along(ops::argmax, x, axis); }

Value argmin(const Value& x, std::int64_t axis) { return arg_along(ops::argmin, x, axis); }

}  // namespace mezzo
