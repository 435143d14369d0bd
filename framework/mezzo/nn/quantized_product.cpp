#include <mezzo/nn/quantized_product.hpp>

#include <atomic>
#include <utility>

#include <mezzo/core/cpu.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/graph/op_registry.hpp>
#include <mezzo/graph/quantization.hpp>
#include <mezzo/graph/read_codes.hpp>
#include <mezzo/graph/scope.hpp>
#include <mezzo/nn/calibrate.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo::detail {
namespace {

/// True if the axes that the product sums over are the last ones.
bool sums_last(const Quantization& form) {
  const Shape& inputs = form.axes.inputs;
  return !inputs.empty() && inputs.front() == static_cast<std::int64_t>(form.shape.size() - inputs.size()) &&
         inputs.front() > 0;
}

Value as_shape(const Value& x, const Shape& shape) { return x.shape() == shape ? x : reshape(x, shape); }

}  // namespace

QuantizedInputs inputs_now(const Value& x, const Variable& kernel, const Op& op) {
  const Quantization& form = *kernel.state()->quantization;
  if (form.form.inputs == QuantizedInputs::floats) return QuantizedInputs::floats;
  const bool has_scale = form.inputs_scale.get() != nullptr;
  if (has_scale) {
    if (note_inputs(x, *kernel.state())) return QuantizedInputs::floats;
    if (form.inputs_scale->value.item() == 0) {
      fail<ValueError>(current_label(op.name), "static activations of {} need calibrate() before the first call",
                       kernel.name());
    }
  }
  const QuantizedInputs quantized = has_scale ? QuantizedInputs::static_int8 : QuantizedInputs::dynamic_int8;
  if (has_int8_products()) return quantized;
  static std::atomic<bool> warned{false};
  if (!warned.exchange(true)) {
    warn(
        "products with quantized weights are computed in floats, since this CPU has no fast products of 8-bit integers "
        "(AVX512_VNNI): quantized weights save memory here, not time");
  }
  return has_scale ? quantized : QuantizedInputs::floats;
}

Value quantized_product(const Value& given, const Variable& kernel) {
  const Value x = is_floating(given.dtype()) ? given : cast(given, current_policy().compute_dtype());  // as matmul
  const Quantization& form = *kernel.state()->quantization;
  const bool swapped = !form.packed() && !form.axes.table && sums_last(form);
  MatrixSizes matrix = form.matrix();
  if (swapped) std::swap(matrix.rows, matrix.columns);
  const bool transposed = form.axes.table || swapped;
  Values operands = read_codes(kernel.state().pointer());
  if (!form.packed()) {
    operands[0] = as_shape(operands[0], {matrix.rows, matrix.columns});
    operands[1] = as_shape(operands[1], {transposed ? matrix.rows : matrix.columns});
  }
  operands.insert(operands.begin(), x);
  const QuantizedInputs inputs = inputs_now(x, kernel, ops::quantized_matmul);
  if (inputs == QuantizedInputs::static_int8) operands.push_back(read_variable(form.inputs_scale.pointer()));
  return insert_one(ops::quantized_matmul, operands,
                    {{"bits", form.bits()},
                     {"columns", matrix.columns},
                     {"block_size", form.block()},
                     {"nf4", form.nf4()},
                     {"transpose_b", transposed},
                     {"activations", std::string(inputs_name(inputs))}});
}

Value quantized_rows(const Value& indices, const Variable& table) {
  const Quantization& form = *table.state()->quantization;
  Values operands = read_codes(table.state().pointer());
  for (Value& operand : operands) operand = gather(operand, indices);
  Attributes attributes = dequantize_attributes(form);
  attributes.set("axes", Shape{static_cast<std::int64_t>(operands[0].shape().size()) - 1});
  attributes.set("dtype", dequantized_dtype(*table.state()));
  return insert_one(dequantize_op(), operands, std::move(attributes));
}

}  // namespace mezzo::detail
