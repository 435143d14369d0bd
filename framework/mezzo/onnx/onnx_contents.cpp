#include <mezzo/onnx/onnx_contents.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <mezzo/io/checked_bytes.hpp>
#include <mezzo/onnx/import_tensors.hpp>
#include <mezzo/onnx/onnx_file.hpp>

namespace mezzo::detail {
namespace {

/// "float32", or "STRING" for a dtype that mezzo lacks.
std::string dtype_text(std::int32_t type) {
  const std::optional<DType> dtype = onnx_dtype(type);
  return dtype ? dtype_name(*dtype) : onnx_dtype_name(type);
}

/// "float32 (batch, 8)" of an input or output; "?" is a size without a name.
std::string type_text_of(const ::onnx::ValueInfoProto& value) {
  if (!value.type().has_tensor_type()) return "no tensor";
  const auto& type = value.type().tensor_type();
  const std::string dtype = dtype_text(type.elem_type());
  if (!type.has_shape()) return dtype + ", any shape";
  std::string sizes;
  for (const auto& size : type.shape().dim()) {
    if (!sizes.empty()) sizes += ", ";
    sizes += size.has_dim_value() ? fmt::to_string(size.dim_value()) : size.has_dim_param() ? size.dim_param() : "?";
  }
  return fmt::format("{} ({}{})", dtype, sizes, type.shape().dim_size() == 1 ? "," : "");
}

TensorEntry entry_of(const ::onnx::TensorProto& array, const std::string& where) {
  TensorEntry entry;
  entry.name = array.name();
  entry.dtype = onnx_dtype(array.data_type());
  entry.type = onnx_dtype_name(array.data_type());
  entry.shape = onnx_shape(array, where);
  if (entry.dtype) entry.bytes = checked_bytes(entry.shape, *entry.dtype).value_or(0);
  return entry;
}

}  // namespace

OnnxContents onnx_contents(const std::string& path) {
  const std::string where = fmt::format("[onnx_contents \"{}\"]", path);
  const ::onnx::ModelProto model = read_onnx_file(path, where);
  const ::onnx::GraphProto& graph = model.graph();
  OnnxContents out;
  out.ir_version = model.ir_version();
  out.producer = model.producer_name();
  if (!model.producer_version().empty()) out.producer += " " + model.producer_version();
  for (const auto& opset : model.opset_import()) out.opsets.emplace_back(opset.domain(), opset.version());
  for (const auto& array : graph.initializer()) out.initializers.push_back(entry_of(array, where));
  for (const auto& input : graph.input()) {
    // Older files list their arrays as inputs, too.
    const bool is_array = std::any_of(graph.initializer().begin(), graph.initializer().end(),
                                      [&](const auto& array) { return array.name() == input.name(); });
    if (!is_array) out.inputs.emplace_back(input.name(), type_text_of(input));
  }
  for (const auto& output : graph.output()) out.outputs.emplace_back(output.name(), type_text_of(output));
  for (const auto& node : graph.node()) {
    ++out.operators[node.domain().empty() ? node.op_type() : node.domain() + "." + node.op_type()];
  }
  for (const auto& entry : model.metadata_props()) out.metadata.emplace_back(entry.key(), entry.value());
  return out;
}

}  // namespace mezzo::detail
