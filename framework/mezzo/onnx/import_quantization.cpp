#include <algorithm>
#include <limits>

#include <mezzo/graph/cast_scope.hpp>
#include <mezzo/onnx/import_operators.hpp>
#include <mezzo/onnx/import_rounding.hpp>
#include <mezzo/onnx/import_tensors.hpp>
#include <mezzo/ops/ops.hpp>

// Numbers that files hold as small integers. Computed in float32 under any policy.
namespace mezzo::detail {
namespace {

template <class T>
Value limited(const Value& x) {
  return clip(x, static_cast<double>(std::numeric_limits<T>::min()),
              static_cast<double>(std::numeric_limits<T>::max()));
}

bool is_single(const Shape& shape) { return shape.empty() || shape == Shape{1}; }

/// (x - zero point) scale, with numbers for the whole array, for each element of an axis, or for blocks of it.
void run_dequantize(OnnxCall& call) {
  const OnnxScales scales = onnx_scales(call, 1);
  const auto exact = disable_casts();
  Value x = cast(call.in(0), DType::float32);
  if (call.has(2)) x = x - spread_numbers(call, scales, 2);
  const Value y = x * spread_numbers(call, scales, 1);
  call.put(cast(y, call.dtype(1)).across_border());
}

DType quantized_dtype(OnnxCall& call) {
  const auto type = static_cast<std::int32_t>(call.integer("output_dtype", 0));
  call.ignore("saturate");  // of 8-bit floats
  if (call.has(2)) return call.dtype(2);
  const auto dtype = type == 0 ? DType::uint8 : onnx_dtype(type);
  if (!dtype) call.refuse("mezzo has no dtype {}", onnx_dtype_name(type));
  return *dtype;
}

void run_quantize(OnnxCall& call) {
  const OnnxScales scales = onnx_scales(call, 1);
  const DType dtype = quantized_dtype(call);
  const auto exact = disable_casts();
  const Value x = cast(call.in(0), DType::float32) / spread_numbers(call, scales, 1);
  call.put(rounded_to(call, x, call.has(2) ? spread_numbers(call, scales, 2) : Value(), dtype));
}

/// uint8 with a scale and zero point for the smallest and largest number, and 0 among the results.
void run_dynamic_quantize(OnnxCall& call) {
  constexpr double largest = 255;
  const auto exact = disable_casts();
  const Value x = cast(call.in(0), DType::float32);
  const Value low = minimum(mezzo::min(x), 0.0), high = maximum(mezzo::max(x), 0.0);
  const Value range = high - low;
  const Value scale = where(range > 0.0, range / largest, 1.0);
  const Value zero_point = mezzo::round(clip(-low / scale, 0.0, largest));
  call.put(rounded_to(call, x / scale, zero_point, DType::uint8));
  if (call.wants(1)) call.put(scale, 1);
  if (call.wants(2)) call.put(cast(zero_point, DType::uint8), 2);
}

}  // namespace

OnnxScales onnx_scales(OnnxCall& call, std::size_t input) {
  OnnxScales out{.axis = 0, .block = call.integer("block_size", 0)};
  const Shape shape = call.shape(0), scales = call.shape(input);
  call.ignore("axis");
  if (is_single(scales)) {
    out.block = 0;
    return out;
  }
  out.axis = call.axis("axis", 1, shape.size());
  const auto at = static_cast<std::size_t>(out.axis);
  Shape wanted{shape[at]};
  if (out.block != 0) {
    wanted = shape;
    if (out.block < 1) call.refuse("block_size must be at least 1; got {}", out.block);
    out.block = std::min(out.block, std::max<std::int64_t>(shape[at], 1));  // a larger one would overflow below
    wanted[at] = (shape[at] + out.block - 1) / out.block;
  }
  if (scales != wanted) call.refuse("scales must have shape {}; got shape {}", wanted, scales);
  return out;
}

Value spread_numbers(const OnnxCall& call, const OnnxScales& scales, std::size_t input) {
  const Value numbers = cast(call.in(input), DType::float32);
  const Shape shape = call.shape(0), given = call.shape(input);
  if (is_single(given)) return reshape(numbers, {});
  const auto at = static_cast<std::size_t>(scales.axis);
  if (scales.block == 0) {
    Shape along(shape.size(), 1);
    along[at] = given[0];
    if (given != Shape{shape[at]}) call.refuse("input {} must have shape ({},); got shape {}", input, shape[at], given);
    return reshape(numbers, along);
  }
  if (given.size() != shape.size()) call.refuse("input {} must have {} axes; got shape {}", input, shape.size(), given);
  const Value repeated = repeat(numbers, Ints(scales.block), scales.axis);
  return slice(repeated, Shape(shape.size(), 0), shape);
}

Value rounded_to(const OnnxCall& call, const Value& x, const Value& zero_point, DType dtype) {
  Value y = mezzo::round(x);
  if (zero_point.defined()) y = y + zero_point;
  switch (dtype) {
    case DType::uint8:
      return cast(limited<std::uint8_t>(y), dtype);
    case DType::int8:
      return cast(limited<std::int8_t>(y), dtype);
    case DType::int16:
      return cast(limited<std::int16_t>(y), dtype);
    default:
      call.refuse("results must be uint8, int8 or int16; got {}", dtype_name(dtype));
  }
}

void add_onnx_quantization(OnnxOperators& table) {
  table["DequantizeLinear"] = {.run = run_dequantize, .least = 2, .most = 3};
  table["QuantizeLinear"] = {.run = run_quantize, .least = 2, .most = 3};
  table["DynamicQuantizeLinear"] = {.run = run_dynamic_quantize, .outputs = 3};
}

}  // namespace mezzo::detail
