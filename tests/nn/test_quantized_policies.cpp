// Policies of layers that are quantized, or can't be.
#include <boost/test/unit_test.hpp>

#include <cmath>

#include <fmt/format.h>

#include <mezzo/mezzo.hpp>

#include "support/refused.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Sequential two_layers() {
  Sequential model({Dense({.units = 4, .name = "a"}), Dense({.units = 3, .name = "b"})});
  model.build({-1, 5});
  return model;
}

bool any_quantized(const Layer& model) {
  for (const Variable& weight : model.weights()) {
    if (weight.quantized()) return true;
  }
  return false;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(quantized_policies)

BOOST_AUTO_TEST_CASE(a_refused_form_quantizes_no_layer) {
  Sequential model = two_layers();
  const Variable last = model.weights()[2];
  last.assign(Tensor({4, 3}, std::vector<double>(12, NAN)));
  BOOST_TEST(refused<ValueError>([&] { model.to("int8_from_float32"); }) ==
             "[Sequential] to: numbers of b/kernel must be finite in float32 to be quantized; got nan");
  BOOST_TEST(!any_quantized(model));
  BOOST_TEST(model.dtype_policy().name() == "float32");
  model.to("float64");
  last.assign(Tensor({4, 3}, std::vector<double>(12, 1e300)).cast(DType::float64));
  BOOST_TEST(refused<ValueError>([&] { model.to("int8_from_float64"); }).find("must be finite in float32") !=
             std::string::npos);
  BOOST_TEST(refused<ValueError>([&] { model.quantize("int8"); }) ==
             "[Sequential] quantize: numbers of b/kernel must be finite; got inf");
  BOOST_TEST(!any_quantized(model));
  BOOST_TEST(model.dtype_policy().name() == "float64");
}

BOOST_AUTO_TEST_CASE(gptq_of_a_convolution_quantizes_no_layer) {
  Sequential model({Input({.shape = {4, 4, 3}}), Dense({.units = 4, .name = "a"}),
                    Conv2D({.filters = 2, .kernel_size = 2, .name = "image"})});
  BOOST_TEST(refused<ValueError>([&] { model.to("gptq/4/2_from_float32"); }).find("gptq is for Dense") !=
             std::string::npos);
  BOOST_TEST(!any_quantized(model));
  BOOST_TEST(model.dtype_policy().name() == "float32");
}

BOOST_AUTO_TEST_CASE(a_quantized_model_refuses_other_forms) {
  Sequential model = two_layers();
  model.quantize("int8");
  for (const char* policy : {"int4_from_float32", "mixed_bfloat16"}) {
    BOOST_TEST(refused<ValueError>([&] { model.to(policy); }) ==
               fmt::format("[Sequential] to: the weights of \"a\" are quantized; the policy must be int8_from_ and the "
                           "name of another one; got {}",
                           Policy(policy).name()));
  }
  BOOST_TEST(model.dtype_policy().name() == "float32");
  model.to("int8_from_mixed_bfloat16");
  BOOST_TEST(model.get_layer("a").dtype_policy().name() == "int8_from_mixed_bfloat16");
  Sequential part = two_layers();
  part.quantize("int8", {.filters = "a"});
  part.to("mixed_bfloat16");
  BOOST_TEST(part.get_layer("a").dtype_policy().name() == "int8_from_float32");
  BOOST_TEST(part.get_layer("b").dtype_policy().name() == "mixed_bfloat16");
}

BOOST_AUTO_TEST_SUITE_END()
