#include <mezzo/core/fail.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

void check_labels(const OpCall& call) {
  const Spec& labels = call.inputs[0];
  const Spec& scores = call.inputs[1];
  detail::require_float(call, 1);
  if (is_floating(labels.dtype) || labels.dtype == DType::boolean) {
    fail<DTypeError>(call.where, "labels must be integers; got {}", labels.dtype);
  }
  if (scores.shape.empty() || labels.shape != Shape(scores.shape.begin(), scores.shape.end() - 1)) {
    fail<ShapeError>(call.where, "labels must have the shape of the scores without the last axis; got {} and {}",
                     labels.shape, scores.shape);
  }
}

std::vector<Spec> infer_crossentropy(const OpCall& call) {
  check_labels(call);
  return {{call.inputs[0].shape, accumulation_dtype(call.inputs[1].dtype)}};
}

std::vector<Spec> infer_crossentropy_gradient(const OpCall& call) {
  check_labels(call);
  detail::require_cotangent(call, 2, call.inputs[0].shape);
  return {call.inputs[1]};
}

Values crossentropy_gradient(const GradientContext& context) {
  Values out(2);
  const Value g = detail::as(context.cotangent(), accumulation_dtype(context.input(1).dtype()));
  out[1] = insert_one(ops::sparse_categorical_crossentropy_gradient, {context.input(0), context.input(1), g},
                      context.attributes());
  return out;
}

}  // namespace

Op detail::define_sparse_categorical_crossentropy() {
  Op op;
  op.cast.operands = {Cast::keep, Cast::compute};
  op.infer = infer_crossentropy;
  op.gradient = crossentropy_gradient;
  op.effect = true;  // throws for labels out of range
  return op;
}

Op detail::define_sparse_categorical_crossentropy_gradient() {
  Op op;
  op.cast.operands = {Cast::keep};
  op.infer = infer_crossentropy_gradient;
  return op;
}

Value sparse_crossentropy(const Value& labels, const Value& scores, bool from_logits) {
  return insert_one(ops::sparse_categorical_crossentropy, {labels, scores}, {{"from_logits", from_logits}});
}

}  // namespace mezzo
