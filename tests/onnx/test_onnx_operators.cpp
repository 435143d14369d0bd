#include <boost/test/unit_test.hpp>

#include <cmath>
#include <numeric>

#include <mezzo/mezzo.hpp>

#include "onnx/graph.hpp"

using namespace mezzo;
using namespace mezzo_tests;

// The operators' results on small arrays, computed by hand; ONNX's own tests run by tests/parity/onnx_backend.py.
namespace {

Tensor numbered(const Shape& shape, float first = 1) {
  std::vector<float> numbers(static_cast<std::size_t>(element_count(shape)));
  std::iota(numbers.begin(), numbers.end(), first);
  return Tensor(shape, numbers);
}

// Output of one node with the input x.
Tensor of_node(OnnxFile& file, const Tensor& x) {
  file.input("x", Shape(x.shape().size(), -1));
  auto& info = *file.graph().mutable_input(0);
  for (auto& axis : *info.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()) axis.clear_dim_param();
  file.output("y");
  return file.load()->predict(x);
}

void equals(const Tensor& y, const Shape& shape, const std::vector<double>& numbers) {
  BOOST_TEST(y.shape() == shape);
  BOOST_TEST(y.to_doubles() == numbers, boost::test_tools::tolerance(1e-6) << boost::test_tools::per_element());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(onnx_operators)

BOOST_AUTO_TEST_CASE(indices_of_tables_count_from_both_ends) {
  OnnxFile file;
  file.input("x", {-1}, ::onnx::TensorProto::INT64);
  file.floats("table", {3, 2}, {1, 2, 3, 4, 5, 6});
  file.node("Gather", {"table", "x"}, {"y"});
  file.output("y");
  const Any<Model> model = file.load();
  BOOST_TEST(model->trainable_weights().size() == 1U);
  equals(model->predict(Tensor({2}, std::vector<std::int64_t>{-1, 1})), {2, 2}, {5, 6, 3, 4});
}

BOOST_AUTO_TEST_CASE(convolutions) {
  OnnxFile file;
  file.floats("w", {1, 1, 2, 2}, {1, 0, 0, 2});
  file.floats("b", {1}, {0.5F});
  auto& node = file.node("Conv", {"x", "w", "b"}, {"y"});
  set_ints(node, "pads", {0, 0, 1, 1});
  equals(of_node(file, numbered({1, 1, 2, 2})), {1, 1, 2, 2}, {9.5, 2.5, 3.5, 4.5});
  OnnxFile line;
  line.floats("w", {2, 1, 2}, {1, -1, 2, 0});
  set_int(line.node("Conv", {"x", "w"}, {"y"}), "group", 2);
  equals(of_node(line, numbered({1, 2, 3})), {1, 2, 2}, {-1, -1, 8, 10});
  OnnxFile transposed;
  transposed.floats("w", {1, 1, 1, 2}, {1, 10});
  set_ints(transposed.node("ConvTranspose", {"x", "w"}, {"y"}), "strides", {1, 2});
  equals(of_node(transposed, numbered({1, 1, 1, 2})), {1, 1, 1, 4}, {1, 10, 2, 20});
}

// Kernels are kept for channels last; weight files have the order of the ONNX file.
BOOST_AUTO_TEST_CASE(images_are_computed_with_channels_last) {
  OnnxFile file;
  file.input("x", {-1, 2, 4, 4});
  std::vector<float> kernel(54), second(9);
  std::iota(kernel.begin(), kernel.end(), 0.0F);
  std::iota(second.begin(), second.end(), 0.0F);
  file.floats("conv1.weight", {3, 2, 3, 3}, kernel);
  file.floats("conv2.weight", {3, 3, 1, 1}, second);
  set_ints(file.node("Conv", {"x", "conv1.weight"}, {"h1"}, "conv1"), "pads", {1, 1, 1, 1});
  file.node("Relu", {"h1"}, {"h2"});
  auto& pool = file.node("MaxPool", {"h2"}, {"h3"});
  set_ints(pool, "kernel_shape", {2, 2});
  set_ints(pool, "strides", {2, 2});
  file.node("Conv", {"h3", "conv2.weight"}, {"h4"}, "conv2");
  file.node("GlobalAveragePool", {"h4"}, {"h5"});
  file.node("Flatten", {"h5"}, {"y"});
  file.output("y");
  const Any<Model> model = file.load();
  const Tensor x = numbered({2, 2, 4, 4});
  const Tensor y = model->predict(x);
  BOOST_TEST(y.shape() == Shape({2, 3}));
  const std::string plan = model->explain();
  std::size_t transposes = 0;
  for (std::size_t at = plan.find("\ntranspose"); at != std::string::npos; at = plan.find("\ntranspose", at + 1))
    ++transposes;
  BOOST_TEST(transposes == 1U);  // of the input alone
  BOOST_TEST(model->weights()[0].shape() == Shape({3, 3, 2, 3}));
  model->save_weights(file.folder.path("w.safetensors"));
  const SafetensorsFile weights(file.folder.path("w.safetensors"));
  BOOST_TEST(weights.read("conv1.weight").shape() == Shape({3, 2, 3, 3}));
  BOOST_TEST(weights.read("conv1.weight").to_doubles()[5] == 5);
}

BOOST_AUTO_TEST_CASE(pooling) {
  OnnxFile file;
  auto& node = file.node("AveragePool", {"x"}, {"y"});
  set_ints(node, "kernel_shape", {2});
  set_ints(node, "strides", {2});
  set_int(node, "ceil_mode", 1);
  equals(of_node(file, numbered({1, 1, 5})), {1, 1, 3}, {1.5, 3.5, 5});
  OnnxFile dilated;
  auto& wide = dilated.node("MaxPool", {"x"}, {"y"});
  set_ints(wide, "kernel_shape", {2});
  set_ints(wide, "dilations", {2});
  equals(of_node(dilated, numbered({1, 1, 4})), {1, 1, 2}, {3, 4});
}

BOOST_AUTO_TEST_CASE(normalization) {
  OnnxFile file;
  file.floats("g", {2}, {1, 2});
  file.floats("b", {2}, {0, 1});
  file.node("LayerNormalization", {"x", "g", "b"}, {"y"});
  equals(of_node(file, Tensor({1, 2}, std::vector<float>{-1000, 1000})), {1, 2}, {-1, 3});
  OnnxFile instance;
  instance.floats("g", {1}, {2});
  instance.floats("b", {1}, {1});
  instance.node("InstanceNormalization", {"x", "g", "b"}, {"y"});
  equals(of_node(instance, Tensor({1, 1, 2}, std::vector<float>{-1000, 1000})), {1, 1, 2}, {-1, 3});
}

BOOST_AUTO_TEST_CASE(arithmetic_and_reductions) {
  OnnxFile file(18);
  file.ints("axes", {1});
  file.floats("two", {}, {2});
  file.node("Pow", {"x", "two"}, {"h"});
  set_int(file.node("ReduceSum", {"h", "axes"}, {"y"}), "keepdims", 0);
  equals(of_node(file, numbered({2, 2})), {2}, {5, 25});
  OnnxFile top(11);
  top.ints("k", {2});
  top.node("TopK", {"x", "k"}, {"y", "places"});
  equals(of_node(top, numbered({1, 4})), {1, 2}, {4, 3});
  OnnxFile exclusive(14);
  exclusive.ints("axis", {1});
  set_int(exclusive.node("CumSum", {"x", "axis"}, {"y"}), "exclusive", 1);
  equals(of_node(exclusive, numbered({1, 4})), {1, 4}, {0, 1, 3, 6});
}

// Attributes of old versions are inputs of newer ones.
BOOST_AUTO_TEST_CASE(versions_of_operators) {
  OnnxFile old(9);
  auto& slice = old.node("Slice", {"x"}, {"h"});
  set_ints(slice, "starts", {1});
  set_ints(slice, "ends", {100});
  set_ints(slice, "axes", {1});
  set_ints(old.node("Unsqueeze", {"h"}, {"y"}), "axes", {0});
  equals(of_node(old, numbered({1, 3})), {1, 1, 2}, {2, 3});
  OnnxFile newer(13);
  newer.ints("starts", {-1});
  newer.ints("ends", {-100});
  newer.ints("axes", {1});
  newer.ints("steps", {-1});
  newer.ints("first", {0});
  newer.node("Slice", {"x", "starts", "ends", "axes", "steps"}, {"h"});
  newer.node("Unsqueeze", {"h", "first"}, {"y"});
  equals(of_node(newer, numbered({1, 3})), {1, 1, 3}, {3, 2, 1});
}

BOOST_AUTO_TEST_CASE(gathers_and_scatters) {
  OnnxFile file(13);
  file.floats("table", {3, 2}, {1, 2, 3, 4, 5, 6});
  file.input("ids", {-1}, ::onnx::TensorProto::INT64);
  file.node("Gather", {"table", "ids"}, {"y"}, "embedding");
  file.output("y");
  const Any<Model> model = file.load();
  equals(model->predict(Tensor({2}, std::vector<std::int64_t>{2, 0})), {2, 2}, {5, 6, 1, 2});
  BOOST_TEST(model->trainable_weights().size() == 1U);
  OnnxFile scatter(13);
  scatter.ints("place", {1});
  scatter.floats("update", {1}, {9});
  scatter.node("ScatterElements", {"x", "place", "update"}, {"y"});
  equals(of_node(scatter, numbered({3})), {3}, {1, 9, 3});
}

BOOST_AUTO_TEST_CASE(resizing) {
  OnnxFile file(13);
  file.floats("scales", {4}, {1, 1, 1, 2});
  file.node("Resize", {"x", "", "scales"}, {"y"});
  equals(of_node(file, numbered({1, 1, 1, 2})), {1, 1, 1, 4}, {1, 1, 2, 2});
}

BOOST_AUTO_TEST_CASE(recurrent_operators) {
  OnnxFile file(14);
  file.floats("w", {1, 1, 1}, {1});
  file.floats("r", {1, 1, 1}, {1});
  auto& node = file.node("RNN", {"x", "w", "r"}, {"states", "y"});
  set_int(node, "hidden_size", 1);
  auto& names = attribute(node, "activations");
  names.set_type(::onnx::AttributeProto::STRINGS);
  names.add_strings("Relu");
  // (steps, batch, features): sums of the steps
  equals(of_node(file, numbered({3, 1, 1})), {1, 1, 1}, {6});
}

BOOST_AUTO_TEST_CASE(gates_of_an_lstm) {
  OnnxFile file(14);
  file.floats("w", {1, 4, 1}, {1, 2, 3, 0.5F});  // input, output, forget gate and candidate
  file.floats("r", {1, 4, 1}, {0, 0, 0, 0});
  file.node("LSTM", {"x", "w", "r"}, {"", "y"});
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  const double carry = sigmoid(1) * std::tanh(0.5);
  equals(of_node(file, ones({1, 1, 1})), {1, 1, 1}, {sigmoid(2) * std::tanh(carry)});
}

BOOST_AUTO_TEST_SUITE_END()
