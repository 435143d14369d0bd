// Policies, opsets and external data: files that tests/parity/onnx_export.py compares with ONNX Runtime.
#include "onnx/exported.hpp"

#include <set>

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Runs images() { return {{random_tensor({2, 8, 8, 3})}, {random_tensor({3, 8, 8, 3}, DType::float32, 2)}}; }

Sequential small_network(const std::string& policy) {
  return Sequential({Input({.shape = {8, 8, 3}}), Conv2D({.filters = 4, .kernel_size = {3, 3}}), BatchNormalization(),
                     Activation("gelu"), MaxPooling2D(), Reshape({.target_shape = {-1, 4}}), LSTM({.units = 5}),
                     LayerNormalization(), Dense({.units = 3, .activation = "softmax"})},
                    {.dtype = policy});
}

// Numbers of the dtypes of all arrays with more than one axis.
std::set<int> dtypes_of(const ::onnx::ModelProto& file) {
  std::set<int> out;
  for (const auto& array : file.graph().initializer()) {
    if (array.dims_size() > 1) out.insert(array.data_type());
  }
  for (const auto& node : file.graph().node()) {
    for (const auto& attribute : node.attribute()) {
      if (node.op_type() == "Cast") out.insert(static_cast<int>(attribute.i()));
    }
  }
  return out;
}

using Type = ::onnx::TensorProto;

}  // namespace

BOOST_AUTO_TEST_SUITE(exported_dtypes)

BOOST_AUTO_TEST_CASE(policies_export_as_they_compute) {
  for (const char* policy : {"mixed_bfloat16", "mixed_float16", "bfloat16", "float16", "float64"}) {
    Sequential model = small_network(policy);
    write_case(model, std::string("policy_") + policy, images());
  }
  Sequential model = small_network("mixed_bfloat16");
  BOOST_TEST(dtypes_of(exported(model)).count(Type::BFLOAT16) == 1U);
}

BOOST_AUTO_TEST_CASE(float32_on_request) {
  for (const char* policy : {"mixed_bfloat16", "float16"}) {
    Sequential model = small_network(policy);
    const auto file = exported(model, {.precision = "float32"});
    BOOST_TEST((dtypes_of(file) == std::set<int>{Type::FLOAT}));
  }
}

BOOST_AUTO_TEST_CASE(opsets) {
  for (int opset = 17; opset <= 22; ++opset) {
    Sequential model = small_network("float32");
    write_case(model, "opset_" + std::to_string(opset), images(), {.opset = opset});
    Sequential narrow = small_network("mixed_bfloat16");
    write_case(narrow, "opset_bfloat16_" + std::to_string(opset), images(), {.opset = opset});
  }
}

BOOST_AUTO_TEST_SUITE_END()
