#include <mezzo/core/fail.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/indexing.hpp>
#include <mezzo/ops/labels.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/run_sizes.hpp>
#include <mezzo/ops/shape.hpp>

#include <algorithm>

namespace mezzo {
namespace {

std::size_t axis_of(const OpCall& call) { return static_cast<std::size_t>(call.attributes.get<std::int64_t>("axis")); }

std::vector<Spec> infer_take(const OpCall& call) {
  detail::require_integers(call, 1, "indices");
  Spec out = call.inputs[0];
  if (call.inputs[1].shape.size() != 1) {
    fail<ShapeError>(call.where, "indices must have 1 axis; got shape {}", call.inputs[1].shape);
  }
  out.shape[axis_of(call)] = call.inputs[1].shape[0];
  return {out};
}

std::vector<Spec> infer_scatter_add(const OpCall& call) {
  detail::require_integers(call, 0, "indices");
  Shape shape = call.inputs[1].shape;
  const std::size_t axis = axis_of(call);
  const Shape& indices = call.inputs[0].shape;
  if (shape.size() <= axis || indices != Shape{shape[axis]}) {
    fail<ShapeError>(call.where, "updates must have a slice for each of the indices {} on axis {}; got shape {}",
                     indices, axis, shape);
  }
  shape[axis] = call.attributes.get<std::int64_t>("size");
  return {{shape, call.attributes.get<DType>("dtype")}};
}

std::vector<Spec> infer_take_along_axis(const OpCall& call) {
  detail::require_integers(call, 1, "indices");
  const Shape& indices = call.inputs[1].shape;
  Shape shape = call.inputs[0].shape;
  const std::size_t axis = axis_of(call);
  if (shape.size() == indices.size()) shape[axis] = indices[axis];
  if (shape != indices) {
    fail<ShapeError>(call.where, "indices must have the input's sizes on all axes except {}; got {} and {}", axis,
                     indices, call.inputs[0].shape);
  }
  return {{indices, call.inputs[0].dtype}};
}

std::vector<Spec> infer_scatter_add_along_axis(const OpCall& call) {
  detail::require_integers(call, 0, "indices");
  Shape shape = call.inputs[0].shape;
  detail::require_cotangent(call, 1, shape);
  shape[axis_of(call)] = call.attributes.get<std::int64_t>("size");
  return {{shape, call.attributes.get<DType>("dtype")}};
}

/// Attributes of a sum over indices into the axis of input 0.
Attributes of_sum(const GradientContext& context) {
  const auto axis = context.attributes().get<std::int64_t>("axis");
  return detail::with(context.attributes(), {{"size", context.input(0).shape()[static_cast<std::size_t>(axis)]},
                                             {"dtype", context.dtype(0)}});
}

Values take_gradient(const GradientContext& context) {
  Values out(2);
  out[0] = insert_one(ops::scatter_add, {context.input(1), context.cotangent()}, of_sum(context));
  return out;
}

Values take_along_axis_gradient(const GradientContext& context) {
  Values out(2);
  out[0] = insert_one(ops::scatter_add_along_axis, {context.input(1), context.cotangent()}, of_sum(context));
  return out;
}

Values scatter_add_gradient(const GradientContext& context) {
  Values out(2);
  const Attributes& from = context.attributes();
  out[1] = insert_one(ops::take, {detail::cotangent_for(context, 1), context.input(0)},
                      {{"axis", from.get<std::int64_t>("axis")}, {"negative", from.get<bool>("negative")}});
  return out;
}

Values scatter_add_along_axis_gradient(const GradientContext& context) {
  Values out(2);
  out[1] = insert_one(ops::take_along_axis, {detail::cotangent_for(context, 1), context.input(0)},
                      {{"axis", context.attributes().get<std::int64_t>("axis")}});
  return out;
}

/// The dtype of the output of sums is that of the updates, which depends on autocast.
template <const Op& op>
Values reinsert_sum(const Values& inputs, const Attributes& attributes) {
  const DType dtype = detail::operand_dtypes(op, op.cast, inputs).back();
  return insert(op, inputs, detail::with(attributes, {{"dtype", dtype}}));
}

/// x with sizes of 1 stretched to those of `other`, except along the axis.
Value stretch_like(const Value& x, const Value& other, std::size_t axis) {
  Shape shape = x.shape();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i != axis && shape[i] == 1) shape[i] = other.shape()[i].or_unknown();
  }
  return detail::broadcast_beside(x, shape, other);
}

}  // namespace

Op detail::define_take() {
  Op op;
  op.cast.operands = {Cast::promote, Cast::keep};
  op.infer = infer_take;
  op.gradient = take_gradient;
  op.effect = true;  // throws for indices out of range, as the ops below
  return op;
}

Op detail::define_take_along_axis() {
  Op op;
  op.cast.operands = {Cast::promote, Cast::keep};
  op.infer = infer_take_along_axis;
  op.gradient = take_along_axis_gradient;
  op.effect = true;
  return op;
}

Op detail::define_scatter_add() {
  Op op;
  op.cast.operands = {Cast::keep, Cast::promote};
  op.infer = infer_scatter_add;
  op.gradient = scatter_add_gradient;
  op.reinsert = reinsert_sum<ops::scatter_add>;
  op.effect = true;
  return op;
}

Op detail::define_scatter_add_along_axis() {
  Op op;
  op.cast.operands = {Cast::keep, Cast::promote};
  op.infer = infer_scatter_add_along_axis;
  op.gradient = scatter_add_along_axis_gradient;
  op.reinsert = reinsert_sum<ops::scatter_add_along_axis>;
  op.effect = true;
  return op;
}

Value take(const Value& x, const Value& places, std::optional<std::int64_t> axis) {
  const Value indices = detail::as_labels(places);
  const std::string where = detail::current_label("take");
  const Value from = axis ? x : reshape(x, {-1});
  const std::int64_t along = detail::normalize_axis(axis.value_or(0), from.shape().size(), where);
  const Shape& many = indices.shape();
  const Value list = many.size() == 1 ? indices : reshape(indices, {-1});
  const Value out = insert_one(ops::take, {from, list}, {{"axis", along}, {"negative", true}});
  if (many.size() == 1) return out;
  Shape shape(from.shape().begin(), from.shape().begin() + along);
  shape.insert(shape.end(), many.begin(), many.end());
  shape.insert(shape.end(), from.shape().begin() + along + 1, from.shape().end());
  return reshape(out, shape);
}

Value take_along_axis(const Value& x, const Value& places, std::optional<std::int64_t> axis) {
  const Value indices = detail::as_labels(places);
  const Value from = axis ? x : reshape(x, {-1});
  const Value at = axis ? indices : reshape(indices, {-1});
  const std::int64_t along =
      detail::normalize_axis(axis.value_or(0), from.shape().size(), detail::current_label("take_along_axis"));
  const Attributes attributes{{"axis", along}};
  if (from.shape().size() != at.shape().size()) return insert_one(ops::take_along_axis, {from, at}, attributes);
  const auto place = static_cast<std::size_t>(along);
  return insert_one(ops::take_along_axis, {stretch_like(from, at, place), stretch_like(at, from, place)}, attributes);
}

}  // namespace mezzo
