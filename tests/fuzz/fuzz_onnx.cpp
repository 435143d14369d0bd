// Reads ONNX files and traces the model for small inputs, as the first step does.
#include <onnx/onnx_pb.h>
#include <mezzo/graph/trace.hpp>
#include <mezzo/mezzo.hpp>
#include <mezzo/onnx.hpp>
#include <mezzo/onnx/import_message.hpp>
#include <mezzo/onnx/import_read.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fuzz.hpp"

namespace {

using namespace mezzo;
using ::onnx::AttributeProto;
using ::onnx::ModelProto;
using ::onnx::NodeProto;
using ::onnx::TensorProto;

constexpr std::int64_t most_elements = 4096;  // of an input

NodeProto& add(ModelProto& model, const std::string& op, const std::vector<std::string>& inputs,
               const std::string& output) {
  NodeProto& node = *model.mutable_graph()->add_node();
  node.set_op_type(op);
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(output);
  return node;
}

void add_ints(NodeProto& node, const std::string& name, const std::vector<std::int64_t>& numbers) {
  AttributeProto& one = *node.add_attribute();
  one.set_name(name);
  one.set_type(AttributeProto::INTS);
  for (const auto number : numbers) one.add_ints(number);
}

void add_int(NodeProto& node, const std::string& name, std::int64_t number) {
  AttributeProto& one = *node.add_attribute();
  one.set_name(name);
  one.set_type(AttributeProto::INT);
  one.set_i(number);
}

void add_numbers(ModelProto& model, const std::string& name, const std::vector<std::int64_t>& shape, bool floats) {
  TensorProto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(floats ? TensorProto::FLOAT : TensorProto::INT64);
  std::int64_t count = 1;
  for (const auto size : shape) {
    tensor.add_dims(size);
    count *= size;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    if (floats) {
      tensor.add_float_data(0.5F);
    } else {
      tensor.add_int64_data(1);
    }
  }
}

ModelProto started(const std::vector<std::int64_t>& shape) {
  ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  auto& input = *model.mutable_graph()->add_input();
  input.set_name("x");
  auto& type = *input.mutable_type()->mutable_tensor_type();
  type.set_elem_type(TensorProto::FLOAT);
  for (const auto size : shape) type.mutable_shape()->add_dim()->set_dim_value(size);
  model.mutable_graph()->add_output()->set_name("y");
  return model;
}

ModelProto images() {
  ModelProto model = started({1, 2, 4, 4});
  add_numbers(model, "w", {2, 2, 3, 3}, true);
  add_numbers(model, "b", {2}, true);
  add_ints(add(model, "Conv", {"x", "w", "b"}, "c"), "pads", {1, 1, 1, 1});
  add(model, "BatchNormalization", {"c", "b", "b", "b", "b"}, "n");
  add(model, "Relu", {"n"}, "r");
  add_ints(add(model, "MaxPool", {"r"}, "p"), "kernel_shape", {2, 2});
  add(model, "GlobalAveragePool", {"p"}, "g");
  add(model, "Flatten", {"g"}, "y");
  return model;
}

ModelProto shapes() {
  ModelProto model = started({2, 6});
  add_numbers(model, "one", {1}, false);
  add(model, "Shape", {"x"}, "s");
  add(model, "Gather", {"s", "one"}, "n");
  add(model, "Range", {"one", "n", "one"}, "i");
  add(model, "ConstantOfShape", {"n"}, "z");
  add(model, "Expand", {"z", "s"}, "e");
  add(model, "Slice", {"e", "one", "n", "one"}, "l");
  add_int(add(model, "Concat", {"x", "e"}, "k"), "axis", 0);
  add_ints(add(model, "Transpose", {"k"}, "t"), "perm", {1, 0});
  add(model, "Pad", {"t", "s"}, "q");
  add(model, "Tile", {"l", "s"}, "y");
  return model;
}

ModelProto sequences() {
  ModelProto model = started({3, 1, 2});
  add_numbers(model, "w", {1, 8, 2}, true);
  add_numbers(model, "table", {4, 2}, true);
  add_numbers(model, "ids", {2}, false);
  add(model, "LSTM", {"x", "w", "w"}, "h");
  add(model, "Gather", {"table", "ids"}, "g");
  add(model, "MatMul", {"x", "g"}, "m");
  add(model, "Softmax", {"m"}, "v");
  add(model, "Resize", {"v", "", "", "s"}, "u");
  add(model, "ReduceMean", {"m"}, "y");
  return model;
}

::onnx::GraphProto& add_body(NodeProto& node, const std::vector<std::string>& inputs,
                             const std::vector<std::string>& outputs) {
  AttributeProto& one = *node.add_attribute();
  one.set_name("body");
  one.set_type(AttributeProto::GRAPH);
  for (const std::string& name : inputs) one.mutable_g()->add_input()->set_name(name);
  for (const std::string& name : outputs) one.mutable_g()->add_output()->set_name(name);
  return *one.mutable_g();
}

void add_inner(::onnx::GraphProto& graph, const std::string& op, const std::vector<std::string>& inputs,
               const std::string& output) {
  NodeProto& node = *graph.add_node();
  node.set_op_type(op);
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(output);
}

ModelProto loops() {
  ModelProto model = started({3, 2});
  add_numbers(model, "three", {1}, false);
  add_numbers(model, "w", {2}, true);
  NodeProto& loop = add(model, "Loop", {"three", "", "x"}, "l");
  ::onnx::GraphProto& body = add_body(loop, {"i", "c", "v"}, {"c", "v2"});
  add_inner(body, "Mul", {"v", "w"}, "v2");
  NodeProto& scan = add(model, "Scan", {"w", "l"}, "s");
  scan.add_output("all");
  add_int(scan, "num_scan_inputs", 1);
  ::onnx::GraphProto& step = add_body(scan, {"h", "e"}, {"h2", "h3"});
  add_inner(step, "Add", {"h", "e"}, "h2");
  add_inner(step, "Tanh", {"h2"}, "h3");
  add(model, "Add", {"s", "all"}, "y");
  return model;
}

ModelProto quantized() {
  ModelProto model = started({2, 6});
  add_numbers(model, "scale", {1}, true);
  add(model, "QuantizeLinear", {"x", "scale"}, "q");
  add(model, "DequantizeLinear", {"q", "scale"}, "d");
  NodeProto& dynamic = add(model, "DynamicQuantizeLinear", {"d"}, "u");
  dynamic.add_output("u_scale");
  dynamic.add_output("u_zero");
  add_ints(add(model, "Transpose", {"u"}, "t"), "perm", {1, 0});
  add(model, "MatMulInteger", {"u", "t", "u_zero"}, "m");
  add(model, "DFT", {"d"}, "f");
  add(model, "Shape", {"f"}, "n");
  add(model, "Cast", {"m"}, "c");
  add_int(*model.mutable_graph()->mutable_node()->rbegin(), "to", TensorProto::FLOAT);
  add(model, "Expand", {"c", "n"}, "y");
  return model;
}

}  // namespace

namespace mezzo_fuzz {
namespace {

std::vector<Bytes> seeds() {
  return {bytes_of(images().SerializeAsString()), bytes_of(shapes().SerializeAsString()),
          bytes_of(sequences().SerializeAsString()), bytes_of(loops().SerializeAsString()),
          bytes_of(quantized().SerializeAsString())};
}

void read_input(const Bytes& bytes) {
  const std::string path = file_of(bytes);
  const Any<Model> model = load_onnx(path, {.dynamic_batch = bytes.size() % 2 == 1});
  ModelProto message;
  if (!message.ParseFromArray(bytes.data(), bytes.size())) return;
  detail::move_onnx_constants(message);
  const detail::OnnxGraph graph = detail::read_onnx_graph(message, "", true, "[fuzz]");
  Trace trace(Trace::Mode::graph);
  Values xs;
  for (const detail::OnnxGraph::Input& input : graph.inputs) {
    Shape shape = input.shape.value_or(Shape{1});
    std::int64_t elements = 1;
    for (auto& size : shape) {
      if (size < 0) size = 2;
      if (size > most_elements) return;
      elements *= size;
      if (elements > most_elements) return;
    }
    xs.push_back(trace.input(input.name, Spec{shape, input.dtype.value_or(DType::float32)}));
  }
  (*model)(xs);
}

const Target target("onnx", read_input, seeds);

}  // namespace
}  // namespace mezzo_fuzz
