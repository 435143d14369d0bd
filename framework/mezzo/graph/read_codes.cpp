#include <mezzo/graph/read_codes.hpp>

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

}  // namespace

Values read_codes(const std::shared_ptr<VariableState>& variable) {
  const Quantization& q = *variable->quantization;
  Values out{read_one(Shared<VariableState>(variable)), read_one(q.scale)};
  if (q.zero.get() != nullptr) out.push_back(read_one(q.zero));
  return out;
}

Attributes dequantize_attributes(const Quantization& quantization) {
  const bool int4 = quantization.int4();
  return {{"bits", quantization.bits()},
          {"columns", int4 ? quantization.matrix().columns : quantization.shape.back()},
          {"axes", int4 ? Shape{quantization.axes.table ? 1 : 0} : quantization.axes.inputs},
          {"block_size", quantization.form.block_size}};
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

}  // namespace mezzo::detail
