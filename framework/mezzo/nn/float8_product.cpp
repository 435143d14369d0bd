#include <mezzo/nn/float8_product.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/finfo.hpp>
#include <mezzo/graph/quantization.hpp>
#include <mezzo/graph/scope.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/ops/custom_gradient.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo::detail {
namespace {

constexpr DType of_operands = DType::float8_e4m3fn, of_gradients = DType::float8_e5m2;

Value rounded(const Value& x, const DelayedScale& by, DType format) {
  return insert_one(ops::quantize_and_dequantize, {x, read_variable(by.scale.pointer())}, {{"format", format}});
}

/// Largest magnitude of x as float32; 0 for an empty array.
Value largest_magnitude(const Value& x) {
  if (element_count(x.shape()) == 0) return Tensor::scalar(0, DType::float32);
  return cast(max(abs(x)), DType::float32);
}

/// Adds a largest magnitude to the history, and chooses the next scale by the history before it. Both stay if the
/// magnitude isn't finite, the scale also if it would be 0 or infinite.
void update_scale(const DelayedScale& of, const Value& amax, DType format) {
  const Value history = read_variable(of.amax_history.pointer()), scale = read_variable(of.scale.pointer());
  const Value is_number = isfinite(amax);
  const Value next = 1.0 / (finfo(format).max / max(history));
  const Value known = logical_and(is_number, logical_and(isfinite(next), next > 0.0));
  update_variable(of.scale.pointer(), where(known, next, scale));
  const std::int64_t length = history.shape()[0];
  const Value moved = roll(history, -1);
  const Value added = concat({reshape(amax, {1}), slice(moved, {1}, {length - 1})}, 0);
  update_variable(of.amax_history.pointer(), where(is_number, added, history));
}

/// True if the backward pass of this call updates scales.
bool updates_scales(const std::string& kernel) {
  if (!training_phase() || !current_trainable()) return false;
  const Trace* const trace = Trace::current();
  if (trace == nullptr || trace->mode() != Trace::Mode::body) return trace != nullptr;
  fail<ValueError>(current_label("float8"),
                   "the {} must not have products in float8 in the body of a loop in training, since a body can't "
                   "update their scales; leave the layer out by filters or freeze it",
                   kernel);
}

/// y, whose cotangent is rounded. Its gradient also updates the scales, since only steps that differentiate y may do
/// so.
Value with_rounded_cotangent(const Value& y, const Value& amax_x, const Value& amax_kernel,
                             const VariableState& kernel) {
  const auto function = custom_gradient([scales = *kernel.fake->float8, name = kernel.name](const Values& xs) {
    const bool updates = updates_scales(name);
    const auto gradient = [scales, updates, amax_of_x = xs[1], amax_of_kernel = xs[2]](const Value& upstream) {
      const Value out = rounded(upstream, scales.outputs_grad, of_gradients);
      if (updates) {
        update_scale(scales.inputs, amax_of_x, of_operands);
        update_scale(scales.kernel, amax_of_kernel, of_operands);
        update_scale(scales.outputs_grad, largest_magnitude(upstream), of_gradients);
      }
      return Values{out, {}, {}};
    };
    return CustomGradientResult{xs[0], gradient};
  });
  return function({y, amax_x, amax_kernel});
}

}  // namespace

bool has_float8_products(const Variable& kernel) {
  const auto& fake = kernel.state()->fake;
  return fake && fake->float8;
}

Value float8_product(const Value& x, const Value& numbers, const VariableState& kernel,
                     const std::function<Value(const Value&, const Value&)>& multiply) {
  const Float8Scales& scales = *kernel.fake->float8;
  const Value left = as(x, operand_dtype(ops::matmul, x)), right = as(numbers, operand_dtype(ops::matmul, numbers));
  const LibraryScope in_compute_dtype;
  const Value y = multiply(rounded(left, scales.inputs, of_operands), rounded(right, scales.kernel, of_operands));
  return with_rounded_cotangent(y, largest_magnitude(left), largest_magnitude(right), kernel);
}

}  // namespace mezzo::detail
