#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstring>
#include <limits>

#include <mezzo/core/error.hpp>
#include <mezzo/mezzo.hpp>
#include <mezzo/precision/mx_element.hpp>

#include "support/recorded.hpp"
#include "support/refused.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

std::vector<float> floats(const nlohmann::json& list) {
  std::vector<float> out;
  for (const std::uint32_t bits : list.get<std::vector<std::uint32_t>>()) {
    std::memcpy(&out.emplace_back(), &bits, sizeof bits);
  }
  return out;
}

std::vector<double> rounded(const std::vector<float>& x, const char* format) {
  return fake_quantize_mx(Tensor({static_cast<std::int64_t>(x.size())}, x), {.format = format}).to_doubles();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mx)

BOOST_AUTO_TEST_CASE(elements_of_6_and_4_bits_round_as_ml_dtypes) {
  for (const char* format : {"mxfp6_e3m2", "mxfp6_e2m3", "mxfp4_e2m1"}) {
    const auto& expected = recorded("number_formats").at(format);
    const std::vector<float> inputs = floats(expected.at("inputs")), results = floats(expected.at("rounded"));
    const detail::MXElement& element = detail::mx_element(format);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      BOOST_TEST(element.round(static_cast<double>(inputs[i])) == static_cast<double>(results[i]), format << i);
    }
    BOOST_TEST(element.max == expected.at("finfo").at("max").get<double>());
  }
}

BOOST_AUTO_TEST_CASE(elements_of_8_bits_round_as_casts) {
  for (const DType dtype : {DType::float8_e4m3fn, DType::float8_e5m2}) {
    const auto& expected = recorded("number_formats").at(dtype_name(dtype));
    const detail::MXElement& element = detail::mx_element(dtype == DType::float8_e5m2 ? "mxfp8_e5m2" : "mxfp8_e4m3");
    BOOST_TEST(element.max == finfo(dtype).max);
    for (const float x : floats(expected.at("inputs"))) {
      if (!(std::abs(static_cast<double>(x)) <= element.max)) continue;
      BOOST_TEST(element.round(static_cast<double>(x)) == Tensor::scalar(static_cast<double>(x), dtype).item());
    }
    BOOST_TEST(element.round(1e9) == element.max);
    BOOST_TEST(element.round(-1e9) == -element.max);
  }
}

// The largest magnitude is 5: floor(log2(5)) = 2, so the scale is 1 for E2M1 and 4 for int8.
BOOST_AUTO_TEST_CASE(scales_are_powers_of_two) {
  BOOST_TEST((rounded({5, 0.24F, -0.26F, 2.5F, 1.25F}, "mxfp4_e2m1") == std::vector<double>{4, 0, -0.5, 2, 1}));
  BOOST_TEST((rounded({5, 1.0F / 32, 3.0F / 32, -4.04F}, "mxint8") == std::vector<double>{5, 0, 0.125, -4.0625}));
  // 7 is 7 / 1 and above the largest number, 6.
  BOOST_TEST((rounded({7, 1}, "mxfp4_e2m1") == std::vector<double>{6, 1}));
  BOOST_TEST((rounded({7.99F}, "mxint8") == std::vector<double>{7.9375}));
}

BOOST_AUTO_TEST_CASE(each_32_of_a_row_have_a_scale) {
  Tensor x({2, 40});
  float* numbers = x.mutable_data<float>();
  numbers[0] = 1024;    // block 0 of row 0
  numbers[31] = 1;      // too small beside it
  numbers[32] = 1;      // block 1
  numbers[40] = 0.25F;  // row 1
  const std::vector<double> y = fake_quantize_mx(x, {.format = "mxfp4_e2m1"}).to_doubles();
  BOOST_TEST(y[0] == 1024);
  BOOST_TEST(y[31] == 0);
  BOOST_TEST(y[32] == 1);
  BOOST_TEST(y[40] == 0.25);
}

BOOST_AUTO_TEST_CASE(rounding_twice_changes_nothing) {
  for (const detail::MXElement& element : detail::mx_elements()) {
    for (const DType dtype : {DType::float32, DType::float64, DType::bfloat16}) {
      const Tensor x = random_tensor({3, 70}, dtype, 1, -3, 3);
      const Tensor once = fake_quantize_mx(x, {.format = element.name});
      BOOST_TEST((once.dtype() == dtype));
      BOOST_TEST(fake_quantize_mx(once, {.format = element.name}).equal(once));
      BOOST_TEST(largest_difference(once, x) > 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(extreme_blocks) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const detail::MXElement& element : detail::mx_elements()) {
    const MXOptions options{.format = element.name};
    for (const double x : {infinity, -infinity, std::nan("")}) {
      Tensor block({40}, DType::float64);
      block.mutable_data<double>()[3] = x;
      const std::vector<double> y = fake_quantize_mx(block, options).to_doubles();
      for (std::size_t i = 0; i < y.size(); ++i) BOOST_TEST(std::isnan(y[i]) == (i < 32));
    }
    BOOST_TEST((fake_quantize_mx(Tensor({3}), options).to_doubles() == std::vector<double>{0, 0, 0}));
    BOOST_TEST((fake_quantize_mx(Tensor({0, 3}), options).shape() == Shape{0, 3}));
    BOOST_TEST((fake_quantize_mx(Tensor({3, 0}), options).shape() == Shape{3, 0}));
    BOOST_TEST(std::isfinite(fake_quantize_mx(Tensor({1}, std::vector<float>{1e-45F}), options).item()));
    BOOST_TEST(std::isfinite(fake_quantize_mx(Tensor({1}, std::vector<float>{3.4e38F}), options).item()));
  }
}

BOOST_AUTO_TEST_CASE(gradients_pass_straight_through) {
  const Tensor x = random_tensor({2, 5}), w = random_tensor({2, 5}, DType::float32, 2);
  const auto loss = [&](const Value& a) { return sum(fake_quantize_mx(a, {.format = "mxfp4_e2m1"}) * Value(w)); };
  BOOST_TEST(grad(loss)(Value(x)).tensor().equal(w));
  BOOST_TEST(fake_quantize_mx(Value(x), {}).tensor().equal(fake_quantize_mx(x, {})));
}

BOOST_AUTO_TEST_CASE(refusals) {
  const Tensor x({2, 2});
  BOOST_TEST(refused<NameError>([&] { fake_quantize_mx(x, {.format = "fp4"}); }) ==
             "[fake_quantize_mx] unknown format \"fp4\"; valid names: mxfp8_e5m2, mxfp8_e4m3, mxfp6_e3m2, mxfp6_e2m3, "
             "mxfp4_e2m1, mxint8; nearest: \"mxfp4_e2m1\"");
  BOOST_TEST(refused<DTypeError>([&] { fake_quantize_mx(x.cast(DType::int32)); }) ==
             "[fake_quantize_mx] x must be floating; got int32");
  BOOST_TEST(refused<ShapeError>([&] { fake_quantize_mx(Tensor::scalar(1, DType::float32)); }) ==
             "[fake_quantize_mx] x must have a last axis; got shape ()");
  BOOST_TEST(refused<NameError>([&] { fake_quantize_mx(Value(x), {.format = "fp4"}); }) != "");
}

BOOST_AUTO_TEST_SUITE_END()
