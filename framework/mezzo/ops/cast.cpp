#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/labels.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

std::vector<Spec> infer_cast(const OpCall& call) {
  return {{call.inputs[0].shape, call.attributes.get<DType>("dtype")}};
}

Values cast_gradient(const GradientContext& context) {
  if (!is_floating(context.input(0).dtype())) return Values(1);
  return {detail::cotangent_for(context, 0)};
}

}  // namespace

Op detail::define_cast() {
  Op op;
  op.cast.operands = {Cast::keep};
  op.infer = infer_cast;
  op.gradient = cast_gradient;
  return op;
}

Value cast(const Value& given, DType dtype) {
  // Labels beyond the whole numbers of float32 stay as they are.
  const bool whole = dtype == DType::int32 || dtype == DType::int64;
  const Value x = whole ? detail::as_labels(given) : given;
  return insert_one(ops::cast, {x}, {{"dtype", dtype}});
}

}  // namespace mezzo
