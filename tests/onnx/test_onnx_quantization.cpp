// Operators of small integers. Numbers of the first cases are those of ONNX's own examples.
#include <boost/test/unit_test.hpp>

#include <limits>

#include <mezzo/mezzo.hpp>

#include "onnx/graph.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr int uint8_type = ::onnx::TensorProto::UINT8, int8_type = ::onnx::TensorProto::INT8;

void floats(OnnxFile& file, const std::string& name, float number) { file.floats(name, {}, {number}); }
void zero(OnnxFile& file, const std::string& name, int number, int type = uint8_type) {
  file.bytes(name, {}, {number}, type);
}

// Output of the graph for x, called on arrays and predicted.
std::vector<double> result_of(const OnnxFile& file, const Tensor& x, const LoadOnnxOptions& options = {}) {
  const Any<Model> model = file.load(options);
  const Value eager = (*model)(Value(x));
  const std::vector<double> traced = model->predict(x).to_doubles();
  BOOST_TEST(traced == eager.tensor().to_doubles(), boost::test_tools::per_element());
  return traced;
}

void check(const std::vector<double>& got, const std::vector<double>& wanted) {
  BOOST_TEST(got == wanted, boost::test_tools::per_element());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(onnx_quantization)

// Halves are rounded to even numbers, and the dtype limits the result.
BOOST_AUTO_TEST_CASE(quantize_linear) {
  for (const char* policy : {"float32", "mixed_bfloat16"}) {
    OnnxFile file;
    file.input("x", {-1});
    floats(file, "scale", 2);
    zero(file, "zero", 128);
    file.node("QuantizeLinear", {"x", "scale", "zero"}, {"y"});
    file.output("y");
    check(result_of(file, Tensor({7}, std::vector<float>{0, 2, 3, 1000, -254, -1000, 1}), {.dtype = policy}),
          {128, 129, 130, 255, 1, 0, 128});
  }
  OnnxFile file(21);
  file.input("x", {-1, 2});
  file.floats("scale", {2}, {0.5F, 4});
  auto& node = file.node("QuantizeLinear", {"x", "scale"}, {"y"});
  set_int(node, "output_dtype", int8_type);
  file.output("y");
  check(result_of(file, {{1, 4}, {-100, -7}}), {2, 1, -128, -2});
}

BOOST_AUTO_TEST_CASE(dequantize_linear) {
  OnnxFile file(21);
  file.input("x", {-1, 4}, uint8_type);
  file.floats("scale", {1, 2}, {0.5F, 2});
  file.bytes("zero", {1, 2}, {1, 2});
  auto& node = file.node("DequantizeLinear", {"x", "scale", "zero"}, {"y"});
  set_int(node, "block_size", 2);
  file.output("y");
  check(result_of(file, Tensor({1, 4}, std::vector<std::uint8_t>{1, 3, 2, 5})), {0, 1, 0, 6});
}

// As a block of the whole axis.
BOOST_AUTO_TEST_CASE(blocks_may_be_larger_than_their_axis) {
  OnnxFile file(21);
  file.input("x", {2, 4}, uint8_type);
  file.floats("scale", {2, 1}, {0.5F, 2});
  auto& node = file.node("DequantizeLinear", {"x", "scale"}, {"y"});
  set_int(node, "block_size", std::numeric_limits<std::int64_t>::max());
  file.output("y");
  check(result_of(file, Tensor({2, 4}, std::vector<std::uint8_t>{1, 3, 2, 5, 0, 1, 2, 3})),
        {0.5, 1.5, 1, 2.5, 0, 2, 4, 6});
}

BOOST_AUTO_TEST_CASE(dynamic_quantize_linear) {
  OnnxFile file;
  file.input("x", {-1});
  file.node("DynamicQuantizeLinear", {"x"}, {"y", "scale", "zero"});
  for (const char* name : {"y", "scale", "zero"}) file.output(name);
  const Any<Model> model = file.load();
  const Values all = (*model)(Values{Value(Tensor({6}, std::vector<float>{0, 2, -3, -2.5F, 1.34F, 0.5F}))});
  check(all[0].tensor().to_doubles(), {153, 255, 0, 26, 221, 179});
  BOOST_TEST(all[1].tensor().to_doubles()[0] == static_cast<double>(0.0196078438F));
  check(all[2].tensor().to_doubles(), {153});
  const Values none = (*model)(Values{Value(Tensor({3}))});
  check(none[0].tensor().to_doubles(), {0, 0, 0});
}

BOOST_AUTO_TEST_CASE(products_of_integers) {
  OnnxFile file;
  file.input("x", {-1, 3}, uint8_type);
  file.bytes("b", {3, 2}, {1, 4, 2, 5, 3, 6});
  zero(file, "za", 12);
  zero(file, "zb", 0);
  file.node("MatMulInteger", {"x", "b", "za", "zb"}, {"y"});
  file.output("y");
  const Tensor x({4, 3}, std::vector<std::uint8_t>{11, 7, 3, 10, 6, 2, 9, 5, 1, 8, 4, 0});
  check(result_of(file, x), {-38, -83, -44, -98, -50, -113, -56, -128});
  OnnxFile linear;
  linear.input("x", {-1, 4}, uint8_type);
  linear.bytes("b", {4, 3}, {152, 51, 244, 60, 26, 255, 0, 127, 246, 127, 254, 247});
  floats(linear, "sa", 0.0066F);
  floats(linear, "sb", 0.00705F);
  floats(linear, "sy", 0.0107F);
  zero(linear, "za", 113);
  zero(linear, "zb", 114);
  zero(linear, "zy", 118);
  linear.node("QLinearMatMul", {"x", "sa", "za", "b", "sb", "zb", "sy", "zy"}, {"y"});
  linear.output("y");
  const Tensor a({2, 4}, std::vector<std::uint8_t>{208, 236, 0, 238, 3, 214, 255, 29});
  check(result_of(linear, a), {168, 115, 255, 1, 66, 151});
}

// Sums above 2^24 are exact.
BOOST_AUTO_TEST_CASE(long_sums_are_exact) {
  for (const int terms : {300, 2000, 5000}) {
    OnnxFile file;
    file.input("x", {-1, terms}, uint8_type);
    std::vector<int> numbers(static_cast<std::size_t>(terms), 255);
    numbers.back() = 254;
    file.bytes("b", {terms, 1}, numbers);
    file.node("MatMulInteger", {"x", "b"}, {"y"});
    file.output("y");
    std::vector<std::uint8_t> x(static_cast<std::size_t>(terms), 255);
    x.front() = 253;
    const Any<Model> model = file.load();
    const Tensor y = (*model)(Value(Tensor({1, terms}, x))).tensor();
    BOOST_TEST(y.data<std::int32_t>()[0] == 65025 * terms - 2 * 255 - 255);
  }
}

BOOST_AUTO_TEST_CASE(products_need_axes) {
  OnnxFile file;
  file.input("x", {2}, uint8_type);
  zero(file, "one", 1);
  file.node("MatMulInteger", {"one", "x"}, {"y"}, "product");
  file.output("y");
  BOOST_CHECK_THROW(file.load()->predict(Tensor({2}, std::vector<std::uint8_t>{1, 2})), ShapeError);
}

BOOST_AUTO_TEST_CASE(convolutions_of_integers) {
  OnnxFile file;
  file.input("x", {-1, 1, 3, 3}, uint8_type);
  file.bytes("w", {1, 1, 2, 2}, {1, 1, 1, 1});
  zero(file, "zero", 1);
  file.node("ConvInteger", {"x", "w", "zero"}, {"y"});
  file.output("y");
  const Tensor x({1, 1, 3, 3}, std::vector<std::uint8_t>{2, 3, 4, 5, 6, 7, 8, 9, 10});
  check(result_of(file, x), {12, 16, 24, 28});
  OnnxFile linear;
  linear.input("x", {-1, 1, 3, 3}, uint8_type);
  linear.bytes("w", {2, 1, 2, 2}, {1, 1, 1, 1, 2, 0, 0, 0}, int8_type);
  linear.bytes("zw", {2}, {0, 1}, int8_type);
  linear.floats("sw", {2}, {0.5F, 0.25F});
  floats(linear, "one", 1);
  zero(linear, "zero", 1);
  auto& bias = *linear.graph().add_initializer();
  bias.set_name("bias");
  bias.set_data_type(::onnx::TensorProto::INT32);
  bias.add_dims(2);
  for (const int number : {2, 40}) bias.add_int32_data(number);
  linear.node("QLinearConv", {"x", "one", "zero", "w", "sw", "zw", "one", "zero", "bias"}, {"y"});
  linear.output("y");
  // (sums + 2) / 2 + 1; (first - the other three + 40) / 4 + 1, rounded
  check(result_of(linear, x), {8, 10, 14, 16, 9, 8, 7, 7});
}

BOOST_AUTO_TEST_CASE(other_dtypes_are_refused) {
  OnnxFile file;
  file.input("x", {-1});
  floats(file, "scale", 2);
  file.ints("zero", {0});
  file.node("QuantizeLinear", {"x", "scale", "zero"}, {"y"}, "q");
  file.output("y");
  check_throws<ValueError>("[QuantizeLinear \"q\"] results must be uint8, int8 or int16; got int64",
                           [&] { file.load()->predict(Tensor({3})); });
}

BOOST_AUTO_TEST_SUITE_END()
