#include <mezzo/graph/read_codes.hpp>

#include <cstdint>
#include <utility>

#include <mezzo/graph/insert.hpp>
#include <mezzo/graph/op_registry.hpp>
#include <mezzo/graph/quantization.hpp>
#include <mezzo/graph/scope.hpp>
#include <mezzo/graph/trace.hpp>

// Reads of quantized variables.
namespace mezzo::detail {
namespace {

Value read_one(const Shared<VariableState>& variable) {
  return Trace::current() != nullptr ? Trace::current()->read_stored(variable.pointer()) : Value(variable->value);
}

Value insert_rounding(Values operands, std::int64_t bits, const Shape& axes, std::int64_t block, Shape shape = {}) {
  static const Op& op = find_op("fake_quantize");
  Attributes attributes{{"bits", bits}, {"axes", axes}, {"block_size", block}};
  if (!shape.empty()) attributes.set("shape", std::move(shape));
  return insert_one(op, std::move(operands), std::move(attributes));
}

Shape last_axis(const Value& x) { return {static_cast<std::int64_t>(x.shape().size()) - 1}; }

/// A bias beside products in float8. Keras rounds it to bfloat16 if its layer computes in float32.
Value rounded_bias(const Value& numbers) {
  if (casts_disabled() || current_policy().compute_dtype() != DType::float32) return numbers;
  static const Op& op = find_op("quantize_and_dequantize");
  return insert_one(op, {numbers}, {{"format", DType::bfloat16}});
}

std::int64_t bits_of(const FakeQuantization& fake) { return fake.form.mode == QuantizationMode::int4 ? 4 : 8; }

}  // namespace

Values read_codes(const std::shared_ptr<VariableState>& variable) {
  const Quantization& q = *variable->quantization;
  Values out{read_one(Shared<VariableState>(variable)), read_one(q.scale)};
  if (q.zero.get() != nullptr) out.push_back(read_one(q.zero));
  return out;
}

Attributes dequantize_attributes(const Quantization& quantization) {
  const bool packed = quantization.packed();
  return {{"bits", quantization.bits()},
          {"columns", packed ? quantization.matrix().columns : quantization.shape.back()},
          {"axes", packed ? Shape{quantization.axes.table ? 1 : 0} : quantization.axes.inputs},
          {"block_size", quantization.block()},
          {"nf4", quantization.nf4()}};
}

DType dequantized_dtype(const VariableState& variable) {
  const Policy policy = current_policy();
  const bool cast = variable.autocast && !casts_disabled() && policy.by_op() == nullptr;
  return cast ? policy.compute_dtype() : DType::float32;
}

Value dequantized(const std::shared_ptr<VariableState>& variable, const Values& codes) {
  Attributes attributes = dequantize_attributes(*variable->quantization);
  attributes.set("shape", variable->shape());
  attributes.set("dtype", dequantized_dtype(*variable));
  return insert_one(dequantize_op(), codes, std::move(attributes));
}

Value rounded_weight(const Value& numbers, const VariableState& weight) {
  const FakeQuantization& fake = *weight.fake;
  if (fake.form.mode == QuantizationMode::float8) return fake.float8 ? numbers : rounded_bias(numbers);
  if (bits_of(fake) == 8) return insert_rounding({numbers}, 8, fake.axes.inputs, -1);
  const MatrixSizes sizes = matrix_sizes(weight.shape(), fake.axes);
  return insert_rounding({numbers}, 4, {fake.axes.table ? 1 : 0}, fake.form.block_size, {sizes.rows, sizes.columns});
}

Value rounded_rows(const Value& rows, const FakeQuantization& fake) {
  return insert_rounding({rows}, bits_of(fake), last_axis(rows), fake.form.block_size);
}

Value rounded_by_row(const Value& x) { return insert_rounding({x}, 8, last_axis(x), -1); }

Value rounded_by_step(const Value& x, const Value& step) { return insert_rounding({x, step}, 8, {}, -1); }

}  // namespace mezzo::detail
