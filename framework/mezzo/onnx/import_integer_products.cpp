#include <algorithm>

#include <mezzo/graph/cast_scope.hpp>
#include <mezzo/onnx/import_convolutions.hpp>
#include <mezzo/onnx/import_operators.hpp>
#include <mezzo/onnx/import_rounding.hpp>
#include <mezzo/onnx/import_windows.hpp>
#include <mezzo/ops/ops.hpp>

// Products of small integers, as sums of float32 numbers: whole numbers below 2^24 are exact.
namespace mezzo::detail {
namespace {

constexpr std::int64_t exact_terms = 258;         // of sums of products of two numbers of at most 255, below 2^24
constexpr std::int64_t exact_split_terms = 4112;  // if one of them is below 16
constexpr double split = 16;

/// The array without its zero point, float32. A zero point with several numbers is for axis `axis` from the end.
Value centred(const OnnxCall& call, std::size_t input, std::size_t zero_point, std::size_t axis) {
  const Value x = cast(call.in(input), DType::float32);
  if (!call.has(zero_point)) return x;
  const Shape given = call.shape(zero_point), shape = call.shape(input);
  Value numbers = cast(call.in(zero_point), DType::float32);
  if (element_count(given) == 1) {
    numbers = reshape(numbers, {});
  } else if (given.size() == 1 && axis > 0 && shape.size() >= axis) {
    Shape along(axis, 1);
    along[0] = given[0];
    numbers = reshape(numbers, along);
  }
  return x - numbers;
}

/// The matrix product of whole numbers of at most 255, as int32.
Value whole_product(const Value& a, const Value& b) {
  const Shape shape = a.shape();
  const std::int64_t terms = shape.empty() ? -1 : shape.back();
  const auto sums = [&](const Value& x) { return cast(matmul(x, b), DType::int32); };
  if (terms >= 0 && terms <= exact_terms) return sums(a);
  if (terms < 0 || terms > exact_split_terms) {
    return cast(matmul(cast(a, DType::float64), cast(b, DType::float64)), DType::int32);
  }
  const Value high = mezzo::floor(a / split);
  return sums(a - high * split) + sums(high) * static_cast<std::int64_t>(split);
}

/// The convolution of whole numbers, channels last, rounded since some kernels compute with fractions.
Value whole_convolution(OnnxCall& call, std::size_t kernel, std::size_t x_zero, std::size_t kernel_zero) {
  const Value x = centred(call, 0, x_zero, 1);
  const Shape of_kernel = call.shape(kernel);
  const Value weight = centred(call, kernel, kernel_zero, of_kernel.size());
  return mezzo::round(onnx_convolution(call, x, weight));
}

/// One number, or one for each element of axis `axis` from the end.
Value along_axis(const OnnxCall& call, std::size_t input, std::size_t axis) {
  const Value numbers = cast(call.in(input), DType::float32);
  const Shape given = call.shape(input);
  if (element_count(given) == 1) return reshape(numbers, {});
  if (given.size() != 1) return numbers;
  Shape along(axis, 1);
  along[0] = given[0];
  return reshape(numbers, along);
}

void run_matmul_integer(OnnxCall& call) {
  const auto exact = disable_casts();
  call.put(whole_product(centred(call, 0, 2, 2), centred(call, 1, 3, 1)));
}

void run_qlinear_matmul(OnnxCall& call) {
  const auto exact = disable_casts();
  const Value sums = whole_product(centred(call, 0, 2, 2), centred(call, 3, 5, 1));
  const Value scale = along_axis(call, 1, 2) * along_axis(call, 4, 1) / along_axis(call, 6, 1);
  call.put(rounded_to(call, cast(sums, DType::float32) * scale, along_axis(call, 7, 1), call.dtype(7)));
}

void run_conv_integer(OnnxCall& call) {
  const auto exact = disable_casts();
  call.put_last(cast(whole_convolution(call, 1, 2, 3), DType::int32));
}

void run_qlinear_conv(OnnxCall& call) {
  const auto exact = disable_casts();
  Value sums = whole_convolution(call, 3, 2, 5);
  if (call.has(8)) sums = sums + cast(call.in(8), DType::float32);
  // Numbers for each filter lie along the last axis.
  const Value scale = along_axis(call, 1, 1) * along_axis(call, 4, 1) / along_axis(call, 6, 1);
  call.put_last(rounded_to(call, sums * scale, along_axis(call, 7, 1), call.dtype(7)));
}

}  // namespace

void add_onnx_integer_products(OnnxOperators& table) {
  table["MatMulInteger"] = {.run = run_matmul_integer, .least = 2, .most = 4};
  table["QLinearMatMul"] = {.run = run_qlinear_matmul, .least = 8, .most = 8};
  table["ConvInteger"] = {.run = run_conv_integer, .least = 2, .most = 4};
  table["QLinearConv"] = {.run = run_qlinear_conv, .least = 8, .most = 9};
}

}  // namespace mezzo::detail
