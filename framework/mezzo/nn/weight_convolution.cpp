#include <mezzo/nn/weight_convolution.hpp>

#include <mezzo/core/cpu.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/graph/quantization.hpp>
#include <mezzo/graph/read_codes.hpp>
#include <mezzo/graph/replaced_variable.hpp>
#include <mezzo/graph/scope.hpp>
#include <mezzo/nn/fake_product.hpp>
#include <mezzo/nn/image_codes.hpp>
#include <mezzo/nn/quantized_product.hpp>
#include <mezzo/ops/conv2d_attributes.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/kernel_convolution.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/open_sizes.hpp>
#include <mezzo/ops/ops.hpp>
#include <mezzo/ops/spatial_axes.hpp>

namespace mezzo::detail {
namespace {

/// Images as the static scale rounds and clips them.
Value clipped_images(const Value& x, const Quantization& form) {
  const Value images = as(x, operand_dtype(ops::conv2d, x));
  const LibraryScope in_float32;
  return rounded_by_step(images, 1.0 / read_variable(form.inputs_scale.pointer()));
}

Value quantized_convolution(const Value& given, const Variable& kernel, const Conv2DOpOptions& options) {
  const Quantization& form = *kernel.state()->quantization;
  if (options.groups != 1 || !takes_image_codes(kernel.shape(), form.form)) return conv2d(given, kernel, options);
  const Value x = is_floating(given.dtype()) ? given : cast(given, current_policy().compute_dtype());  // as conv2d
  const QuantizedInputs inputs = inputs_now(x, kernel, ops::quantized_conv2d);
  const DType dtype = operand_dtype(ops::quantized_conv2d, x);
  const bool known = dtype == DType::float32 || dtype == DType::bfloat16;
  if (inputs == QuantizedInputs::floats || !known || !has_int8_products()) {  // in int8: plain loops alone
    return conv2d(inputs == QuantizedInputs::static_int8 ? clipped_images(x, form) : x, kernel, options);
  }
  Values operands = read_codes(kernel.state().pointer());
  operands.insert(operands.begin(), x);
  if (inputs == QuantizedInputs::static_int8) operands.push_back(read_variable(form.inputs_scale.pointer()));
  Attributes attributes = conv2d_attributes(x, kernel.shape(), options);
  attributes.set("activations", std::string(inputs_name(inputs)));
  return insert_one(ops::quantized_conv2d, operands, std::move(attributes));
}

Value convolution(const Value& x, const Variable& kernel, const Conv2DOpOptions& options) {
  if (kernel.quantized()) return quantized_convolution(x, kernel, options);
  const auto& fake = kernel.state()->fake;
  if (options.groups != 1 || !fake || !takes_image_codes(kernel.shape(), fake->form.prepared())) {
    return conv2d_of_kernel(x, kernel, options);
  }
  return conv2d(rounded_images(x, kernel), kernel, options);
}

}  // namespace

Value weight_convolution(const Value& x, const Variable& kernel, const Conv2DOpOptions& options) {
  // A kernel that a layer around has replaced is read at once. It is floating, and the policy applies to it.
  if (ReplacedVariable::find(*kernel.state()).defined()) return conv2d_of_kernel(x, kernel, options);
  if (has_open_size(x)) {
    return with_sizes([kernel, options](const Value& images) { return weight_convolution(images, kernel, options); }, x,
                      reach_of(kernel.shape(), options.dilation_rate));
  }
  const auto run = [kernel, options](const Values& xs) -> Values { return {convolution(xs[0], kernel, options)}; };
  const Shape shape = conv2d_shape(x, kernel.shape(), conv2d_attributes(x, kernel.shape(), options));
  return defer(run, {x}, {{shape, operand_dtype(ops::conv2d, x)}}).front();
}

}  // namespace mezzo::detail
