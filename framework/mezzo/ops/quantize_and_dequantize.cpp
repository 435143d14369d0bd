#include <mezzo/core/fail.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

std::vector<Spec> infer_rounding(const OpCall& call) {
  detail::require_float(call, 0);
  const auto format = call.attributes.get<DType>("format");
  if (!is_float8(format) && format != DType::bfloat16) {
    fail<DTypeError>(call.where, "format must be float8_e4m3fn, float8_e5m2 or bfloat16; got {}", format);
  }
  if (call.inputs.size() > 1 && (!call.inputs[1].shape.empty() || call.inputs[1].dtype != DType::float32)) {
    fail<ShapeError>(call.where, "scale must be float32 of shape (); got {}", to_string(call.inputs[1]));
  }
  return {call.inputs[0]};
}

/// Passes the cotangent through the rounding by a scale. Without one, rounds it like x: both are casts in Keras.
Values rounding_gradient(const GradientContext& context) {
  const Value g = detail::cotangent_for(context, 0);
  if (context.input_count() > 1) return {g, {}};
  return {insert_one(ops::quantize_and_dequantize, {g}, context.attributes())};
}

}  // namespace

Op detail::define_quantize_and_dequantize() {
  Op op;
  op.cast.operands = {Cast::keep};
  op.infer = infer_rounding;
  op.gradient = rounding_gradient;
  return op;
}

}  // namespace mezzo
