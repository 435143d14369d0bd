#include "onnx/exported.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(export_onnx)

BOOST_AUTO_TEST_CASE(a_dense_model_is_a_product_with_a_symbolic_batch) {
  Sequential model({Input({.shape = {4}}), Dense({.units = 3, .activation = "relu", .name = "fc"})});
  const ::onnx::ModelProto file = exported(model);
  BOOST_TEST(operators_of(file) == "MatMul Add Relu");
  BOOST_TEST(arrays_of(file) == "fc.weight (4, 3) fc.bias (3,)");
  BOOST_TEST(text_of(file.graph().input(0)) == "input: 1 (batch, 4)");
  BOOST_TEST(text_of(file.graph().output(0)) == "output: 1 (batch, 3)");
  BOOST_TEST(file.opset_import(0).version() == 17);
  BOOST_TEST(file.producer_name() == "mezzo");
  BOOST_TEST(file.producer_version() == version());
}

BOOST_AUTO_TEST_CASE(options_set_the_batch_the_opset_and_metadata) {
  Sequential model({Input({.shape = {4}}), Dense({.units = 3})});
  const ::onnx::ModelProto file = exported(model, {.opset = 21, .batch = 8, .metadata = {{"author", "me"}}});
  BOOST_TEST(text_of(file.graph().input(0)) == "input: 1 (8, 4)");
  BOOST_TEST(file.opset_import(0).version() == 21);
  BOOST_TEST(file.metadata_props(0).key() == "author");
  BOOST_TEST(file.metadata_props(0).value() == "me");
}

BOOST_AUTO_TEST_CASE(options_out_of_range_are_errors) {
  Sequential model({Input({.shape = {4}}), Dense({.units = 3})});
  const auto refused = [&](const ExportOnnxOptions& options, const std::string& text) {
    check_throws<ValueError>("[export_onnx] " + text, [&] { exported(model, options); });
  };
  refused({.opset = 16}, "opset must be 17 to 22; got 16");
  refused({.batch = 0}, "batch must be at least 1; got 0");
  refused({.batch = "any"}, "batch must be \"dynamic\" or a number; got \"any\"");
  refused({.precision = "int8"}, "precision must be \"\" (that of the model) or \"float32\"; got \"int8\"");
}

BOOST_AUTO_TEST_SUITE_END()
