#include <mezzo/onnx/export_message.hpp>

#include <array>
#include <filesystem>
#include <optional>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/version.hpp>
#include <mezzo/io/file_replacement.hpp>
#include <mezzo/onnx/export_node.hpp>
#include <mezzo/onnx/import_tensors.hpp>
#include <mezzo/onnx/onnx_file.hpp>

namespace mezzo::detail {
namespace {

using ::onnx::TensorProto;

constexpr std::uint64_t least_external_bytes = 1024;  // smaller arrays stay in the file
constexpr std::uint64_t alignment = 4096;             // of external arrays: runtimes map the file into memory

std::int32_t type_of(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return TensorProto::FLOAT;
    case DType::float64:
      return TensorProto::DOUBLE;
    case DType::bfloat16:
      return TensorProto::BFLOAT16;
    case DType::float16:
      return TensorProto::FLOAT16;
    case DType::int8:
      return TensorProto::INT8;
    case DType::int16:
      return TensorProto::INT16;
    case DType::int32:
      return TensorProto::INT32;
    case DType::int64:
      return TensorProto::INT64;
    case DType::uint8:
      return TensorProto::UINT8;
    case DType::boolean:
      return TensorProto::BOOL;
    case DType::float8_e4m3fn:
    case DType::float8_e5m2:
      break;
  }
  return TensorProto::UNDEFINED;
}

/// Version of the format of files with these operators.
std::int64_t ir_version(int opset) { return opset >= 21 ? 10 : opset >= 19 ? 9 : 8; }

void write_body(const ExportBody& body, ::onnx::GraphProto& graph);

/// Sets an attribute of a node.
struct AttributeWriter {
  ::onnx::AttributeProto& out;

  void operator()(std::int64_t number) const {
    out.set_type(::onnx::AttributeProto::INT);
    out.set_i(number);
  }
  void operator()(double number) const {
    out.set_type(::onnx::AttributeProto::FLOAT);
    out.set_f(static_cast<float>(number));
  }
  void operator()(const std::string& text) const {
    out.set_type(::onnx::AttributeProto::STRING);
    out.set_s(text);
  }
  void operator()(const Shape& numbers) const {
    out.set_type(::onnx::AttributeProto::INTS);
    for (const std::int64_t number : numbers) out.add_ints(number);
  }
  void operator()(const std::vector<double>& numbers) const {
    out.set_type(::onnx::AttributeProto::FLOATS);
    for (const double number : numbers) out.add_floats(static_cast<float>(number));
  }
  void operator()(const std::vector<std::string>& texts) const {
    out.set_type(::onnx::AttributeProto::STRINGS);
    for (const std::string& text : texts) out.add_strings(text);
  }
  void operator()(DType dtype) const { (*this)(std::int64_t{type_of(dtype)}); }
  void operator()(const std::shared_ptr<const ExportBody>& body) const {
    out.set_type(::onnx::AttributeProto::GRAPH);
    write_body(*body, *out.mutable_g());
  }
};

void write_node(const ExportNode& node, ::onnx::GraphProto& graph) {
  ::onnx::NodeProto& out = *graph.add_node();
  out.set_op_type(node.op);
  out.set_name(node.outputs.front());
  for (const std::string& name : node.inputs) out.add_input(name);
  for (const std::string& name : node.outputs) out.add_output(name);
  for (const ExportAttribute& attribute : node.attributes) {
    ::onnx::AttributeProto& one = *out.add_attribute();
    one.set_name(attribute.name);
    std::visit(AttributeWriter{one}, attribute.value);
  }
}

/// Type of a value; sizes are -1 or names for open ones.
::onnx::TensorShapeProto& write_type(const std::string& name, DType dtype, ::onnx::ValueInfoProto& out) {
  out.set_name(name);
  ::onnx::TypeProto::Tensor& type = *out.mutable_type()->mutable_tensor_type();
  type.set_elem_type(type_of(dtype));
  return *type.mutable_shape();
}

void write_body(const ExportBody& body, ::onnx::GraphProto& graph) {
  graph.set_name("body");
  for (const ExportNode& node : body.nodes) write_node(node, graph);
  const auto add = [](const ExportBody::Port& port, ::onnx::ValueInfoProto& out) {
    ::onnx::TensorShapeProto& shape = write_type(port.name, port.dtype, out);
    for (std::size_t i = 0; i < port.rank; ++i) shape.add_dim();
  };
  for (const ExportBody::Port& port : body.inputs) add(port, *graph.add_input());
  for (const ExportBody::Port& port : body.outputs) add(port, *graph.add_output());
}

void write_port(const ExportedModel::Port& port, const std::map<TracedNumber, std::string>& symbols,
                ::onnx::ValueInfoProto& out) {
  ::onnx::TensorShapeProto& shape = write_type(port.name, port.dtype, out);
  for (const TracedNumber& size : port.shape) {
    auto& dim = *shape.add_dim();
    const auto symbol = symbols.find(size);
    if (is_fixed(size)) {
      dim.set_dim_value(size.front());
    } else if (symbol != symbols.end()) {
      dim.set_dim_param(symbol->second);
    }
  }
}

/// The second file, for arrays.
class ExternalData {
 public:
  ExternalData(const std::string& path, const std::string& where)
      : name_(std::filesystem::path(path).filename().string()), file_(path, where) {}

  void add(const Tensor& value, TensorProto& out) {
    const std::string gap((alignment - size_ % alignment) % alignment, '\0');
    file_.write(gap.data(), gap.size());
    size_ += gap.size();
    file_.write(value.raw(), value.bytes());
    out.set_data_location(TensorProto::EXTERNAL);
    const auto entry = [&](const char* key, const std::string& text) {
      auto& pair = *out.add_external_data();
      pair.set_key(key);
      pair.set_value(text);
    };
    entry("location", name_);
    entry("offset", std::to_string(size_));
    entry("length", std::to_string(value.bytes()));
    size_ += value.bytes();
  }

  void commit() { file_.commit(); }

 private:
  std::string name_;
  FileReplacement file_;
  std::uint64_t size_ = 0;
};

}  // namespace

void write_exported(const ExportedModel& model, const std::map<TracedNumber, std::string>& symbols,
                    const ExportFacts& facts, const std::string& path, const std::string& where) {
  ::onnx::ModelProto out;
  out.set_ir_version(ir_version(model.graph.opset()));
  out.set_producer_name("mezzo");
  out.set_producer_version(version());
  out.add_opset_import()->set_version(model.graph.opset());
  for (const auto& [key, text] : facts.metadata) {
    auto& entry = *out.add_metadata_props();
    entry.set_key(key);
    entry.set_value(text);
  }
  ::onnx::GraphProto& graph = *out.mutable_graph();
  graph.set_name(facts.graph_name);
  for (const ExportedModel::Port& port : model.inputs) write_port(port, symbols, *graph.add_input());
  for (const ExportedModel::Port& port : model.outputs) write_port(port, symbols, *graph.add_output());
  for (const ExportNode& node : model.graph.nodes) write_node(node, graph);
  std::uint64_t bytes = 0;
  for (const auto& [name, value] : model.graph.arrays) bytes += value.bytes();
  std::optional<ExternalData> external;
  if (bytes > facts.embedded_bytes) external.emplace(path + ".data", where);
  for (const auto& [name, value] : model.graph.arrays) {
    TensorProto& array = *graph.add_initializer();
    array.set_name(name);
    const bool int4 = model.graph.is_int4(name);
    array.set_data_type(int4 ? onnx_int4 : type_of(value.dtype()));
    for (const std::int64_t size : value.shape()) array.add_dims(size);
    const Tensor stored = int4 ? packed_codes(value.reshape({1, value.size()})) : value;
    if (external && stored.bytes() >= least_external_bytes) {
      external->add(stored, array);
    } else {
      array.set_raw_data(stored.raw(), stored.bytes());
    }
  }
  if (external) external->commit();
  write_onnx_file(out, path, where);
}

}  // namespace mezzo::detail
