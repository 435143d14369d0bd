#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/core/tensor.hpp>
#include <mezzo/onnx.hpp>
#include <mezzo/onnx/onnx_file.hpp>

#include "support/folder.hpp"

namespace mezzo_tests {

// An ONNX file that a test makes.
struct OnnxFile {
  explicit OnnxFile(std::int64_t opset = 17) {
    message.set_ir_version(8);
    auto* import = message.add_opset_import();
    import->set_version(opset);
    message.mutable_graph()->set_name("graph");
  }

  ::onnx::GraphProto& graph() { return *message.mutable_graph(); }

  static void describe(::onnx::ValueInfoProto& info, const std::string& name, const mezzo::Shape& shape, int type) {
    info.set_name(name);
    auto* tensor = info.mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(type);
    tensor->mutable_shape();
    for (const auto size : shape) {
      auto* axis = tensor->mutable_shape()->add_dim();
      if (size < 0) {
        axis->set_dim_param("batch");
      } else {
        axis->set_dim_value(size);
      }
    }
  }
  void input(const std::string& name, const mezzo::Shape& shape, int type = ::onnx::TensorProto::FLOAT) {
    describe(*graph().add_input(), name, shape, type);
  }
  void output(const std::string& name) { graph().add_output()->set_name(name); }

  ::onnx::NodeProto& node(const std::string& op, const std::vector<std::string>& inputs,
                          const std::vector<std::string>& outputs, const std::string& name = {}) {
    auto& one = *graph().add_node();
    one.set_op_type(op);
    one.set_name(name);
    for (const auto& x : inputs) one.add_input(x);
    for (const auto& y : outputs) one.add_output(y);
    return one;
  }

  void floats(const std::string& name, const mezzo::Shape& shape, const std::vector<float>& numbers) {
    auto& tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(::onnx::TensorProto::FLOAT);
    for (const auto size : shape) tensor.add_dims(size);
    for (const float number : numbers) tensor.add_float_data(number);
  }
  void bytes(const std::string& name, const mezzo::Shape& shape, const std::vector<int>& numbers,
             int type = ::onnx::TensorProto::UINT8) {
    auto& tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(type);
    for (const auto size : shape) tensor.add_dims(size);
    for (const int number : numbers) tensor.add_int32_data(number);
  }
  void ints(const std::string& name, const std::vector<std::int64_t>& numbers) {
    auto& tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(::onnx::TensorProto::INT64);
    tensor.add_dims(static_cast<std::int64_t>(numbers.size()));
    for (const auto number : numbers) tensor.add_int64_data(number);
  }

  // Start of the errors of load().
  std::string label() const { return "[load_onnx \"" + folder.path("m.onnx") + "\"] "; }

  // The file in the folder of the test.
  std::string save() const {
    mezzo::detail::write_onnx_file(message, folder.path("m.onnx"), "[test]");
    return folder.path("m.onnx");
  }
  mezzo::Any<mezzo::Model> load(const mezzo::LoadOnnxOptions& options = {}) const {
    return mezzo::load_onnx(save(), options);
  }

  Folder folder;
  ::onnx::ModelProto message;
};

inline ::onnx::AttributeProto& attribute(::onnx::NodeProto& node, const std::string& name) {
  auto& one = *node.add_attribute();
  one.set_name(name);
  return one;
}
inline void set_int(::onnx::NodeProto& node, const std::string& name, std::int64_t number) {
  auto& one = attribute(node, name);
  one.set_type(::onnx::AttributeProto::INT);
  one.set_i(number);
}
inline void set_number(::onnx::NodeProto& node, const std::string& name, float number) {
  auto& one = attribute(node, name);
  one.set_type(::onnx::AttributeProto::FLOAT);
  one.set_f(number);
}
inline void set_text(::onnx::NodeProto& node, const std::string& name, const std::string& text) {
  auto& one = attribute(node, name);
  one.set_type(::onnx::AttributeProto::STRING);
  one.set_s(text);
}
inline void set_texts(::onnx::NodeProto& node, const std::string& name, const std::vector<std::string>& texts) {
  auto& one = attribute(node, name);
  one.set_type(::onnx::AttributeProto::STRINGS);
  for (const auto& text : texts) one.add_strings(text);
}
// Adds a body to a node.
inline ::onnx::GraphProto& add_body(::onnx::NodeProto& node, const std::string& name,
                                    const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  auto& one = attribute(node, name);
  one.set_type(::onnx::AttributeProto::GRAPH);
  for (const auto& x : inputs) one.mutable_g()->add_input()->set_name(x);
  for (const auto& y : outputs) one.mutable_g()->add_output()->set_name(y);
  return *one.mutable_g();
}
inline ::onnx::NodeProto& add_node(::onnx::GraphProto& graph, const std::string& op,
                                   const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  auto& one = *graph.add_node();
  one.set_op_type(op);
  for (const auto& x : inputs) one.add_input(x);
  for (const auto& y : outputs) one.add_output(y);
  return one;
}
inline void set_ints(::onnx::NodeProto& node, const std::string& name, const std::vector<std::int64_t>& numbers) {
  auto& one = attribute(node, name);
  one.set_type(::onnx::AttributeProto::INTS);
  for (const auto number : numbers) one.add_ints(number);
}

}  // namespace mezzo_tests
