#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/numpy.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

std::vector<Spec> infer_cast(const OpCall& call) {
  return {{call.inputs[0].shape, call.attributes.get<DType>("dtype")}};
}

Values cast_gradient(const GradientContext& context) {
  const DType from = context.input(0).dtype();
  if (!is_floating(from) && !is_float8(from)) return Values(1);
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

Value cast(const Value& x, DType dtype) { return insert_one(ops::cast, {x}, {{"dtype", dtype}}); }

Value convert_to_tensor(const Value& x, std::optional<DType> dtype) {
  return detail::as(
      x.weak() && !dtype ? Value(x.tensor().cast(is_floating(x.dtype()) ? DType::float32 : DType::int32)) : x,
      dtype.value_or(x.weak() ? (is_floating(x.dtype()) ? DType::float32 : DType::int32) : x.dtype()));
}

}  // namespace mezzo
