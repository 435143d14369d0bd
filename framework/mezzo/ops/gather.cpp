#include <mezzo/core/fail.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/labels.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

/// Shape of the gathered rows: indices + table[1:].
Shape gathered(const OpCall& call, const Shape& table, const Shape& indices) {
  if (table.empty()) fail<ShapeError>(call.where, "table must have at least 1 axis; got shape ()");
  Shape out = indices;
  out.insert(out.end(), table.begin() + 1, table.end());
  return out;
}

std::vector<Spec> infer_gather(const OpCall& call) {
  detail::require_integers(call, 1, "indices");
  return {{gathered(call, call.inputs[0].shape, call.inputs[1].shape), call.inputs[0].dtype}};
}

std::vector<Spec> infer_gather_gradient(const OpCall& call) {
  detail::require_integers(call, 0, "indices");
  detail::require_float(call, 1);
  const auto& shape = call.attributes.get<Shape>("shape");
  detail::require_cotangent(call, 1, gathered(call, shape, call.inputs[0].shape));
  return {{shape, call.attributes.get<DType>("dtype")}};
}

std::vector<Spec> infer_add_gather_gradient(const OpCall& call) {
  detail::require_float(call, 0);
  detail::require_integers(call, 1, "indices");
  detail::require_float(call, 2);
  detail::require_cotangent(call, 2, gathered(call, call.inputs[0].shape, call.inputs[1].shape));
  return {call.inputs[0]};
}

std::vector<Spec> infer_rows(const OpCall& call) {
  Spec rows = infer_gather_gradient(call).front();
  const std::int64_t table_rows = rows.shape.front();
  rows.shape.front() = element_count(call.inputs[0].shape);
  return {rows, {{table_rows}, DType::int32}};
}

Values gather_gradient(const GradientContext& context) {
  Values out(2);
  out[0] = insert_one(ops::gather_gradient, {context.input(1), context.cotangent()},
                      {{"shape", context.input(0).shape()}, {"dtype", context.dtype(0)}});
  return out;
}

/// Casts the gathered rows, never the whole table, to the compute dtype if the table crosses a layer border.
Values insert_gather(const Values& inputs, const Attributes&) {
  const Op& op = ops::gather;
  const Value rows = insert_one(op, inputs);
  const Value crossing = rows.across_border(inputs[0].crosses_border());
  if (Trace::current() == nullptr && rows.symbolic()) return {crossing};  // cast when its model is called
  return {detail::as(rows, detail::operand_dtypes(op, {{Cast::compute}}, {crossing}).front())};
}

}  // namespace

Op detail::define_gather() {
  Op op;
  op.cast.operands = {Cast::keep};
  op.infer = infer_gather;
  op.gradient = gather_gradient;
  op.reinsert = insert_gather;
  op.effect = true;  // throws for indices out of range
  return op;
}

Op detail::define_gather_gradient() {
  Op op;
  op.cast.operands = {Cast::keep};
  op.infer = infer_gather_gradient;
  return op;
}

Op detail::define_add_gather_gradient() {
  Op op;
  op.cast.operands = {Cast::keep};
  op.infer = infer_add_gather_gradient;
  return op;
}

Op detail::define_gather_gradient_rows() {
  Op op = define_gather_gradient();
  op.infer = infer_rows;
  return op;
}

Value gather(const Value& table, const Value& indices) {
  return insert_gather({table, detail::as_labels(indices)}, {}).front();
}

}  // namespace mezzo
