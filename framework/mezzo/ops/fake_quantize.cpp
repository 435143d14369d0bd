#include <algorithm>
#include <cmath>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {
namespace {

constexpr double limit = 127;  // largest code of inputs

std::vector<Spec> infer_fake_quantize(const OpCall& call) {
  detail::require_float(call, 0);
  if (call.attributes.get<std::int64_t>("block_size") > 0 && call.attributes.get<std::int64_t>("bits") != 4) {
    fail<ValueError>(call.where, "blocks need 4 bits; got {}", call.attributes.get<std::int64_t>("bits"));
  }
  if (call.inputs.size() > 1 && (!call.inputs[1].shape.empty() || call.inputs[1].dtype != DType::float32)) {
    fail<ShapeError>(call.where, "step must be float32 of shape (); got {}", to_string(call.inputs[1]));
  }
  const Shape shape = call.attributes.get_or<Shape>("shape", call.inputs[0].shape);
  if (call.inputs.size() < 2 && (shape.empty() || (call.attributes.has("shape") &&
                                                   element_count(shape) != element_count(call.inputs[0].shape)))) {
    fail<ShapeError>(call.where, "shape {} must have axes and the elements of the input; got shape {}", shape,
                     call.inputs[0].shape);
  }
  return {call.inputs[0]};
}

/// Passes the cotangent through the rounding. With a step, elements that are clipped get 0, and the step gets the
/// gradient of LSQ, sum of (rint(v) - v, or the limit where v is clipped) times 1 / sqrt(features * 127), where v is
/// x / step and the last axis has the features.
Values fake_quantize_gradient(const GradientContext& context) {
  const Value g = detail::cotangent_for(context, 0);
  Values out(context.input_count());
  if (context.input_count() < 2) return {g};
  const Value& step = context.input(1);
  const Value zero = step * 0.0;
  const Value v = cast(context.input(0), DType::float32) / where(step == zero, zero + 1.0, step), code = round(v);
  const Value inside = logical_or(abs(code) <= limit, step == zero);
  const Value wide = cast(g, DType::float32);
  if (context.needs(0)) out[0] = detail::as(where(inside, wide, 0.0), context.dtype(0));
  if (!context.needs(1)) return out;
  const Value slope = where(inside, code - v, clip(v, -limit, limit));
  const Shape& shape = context.input(0).shape();
  const auto features = static_cast<double>(shape.empty() ? 1 : std::max<std::int64_t>(shape.back(), 1));
  out[1] = detail::as(sum(wide * slope) * (1 / std::sqrt(features * limit)), context.dtype(1));
  return out;
}

}  // namespace

Op detail::define_fake_quantize() {
  Op op;
  op.cast.operands = {Cast::keep};
  op.infer = infer_fake_quantize;
  op.gradient = fake_quantize_gradient;
  return op;
}

}  // namespace mezzo
