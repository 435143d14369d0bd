// float32 products as products of bfloat16: their errors, and the conditions under which they are chosen.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

#include <mezzo/backends/onednn/creators.hpp>
#include <mezzo/backends/onednn/implementations.hpp>
#include <mezzo/backends/xsimd/conversions.hpp>
#include <mezzo/backends/xsimd/isa_kernels.hpp>
#include <mezzo/core/isa.hpp>

#include "support/onednn.hpp"
#include "support/skip.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(), largest = std::numeric_limits<float>::max();

Attributes product(bool transpose_a = false, bool transpose_b = false) {
  return {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}};
}

/// Runs the product on any machine with bfloat16 in hardware.
Tensor run(std::int64_t parts, const Attributes& attributes, const std::vector<Tensor>& inputs) {
  const KernelRequest request = kernel_request("matmul", attributes, inputs);
  std::string reason;
  const auto kernel = onednn::make_float32_matmul(request, parts, reason);
  BOOST_TEST_REQUIRE(kernel != nullptr, reason);
  return run_between_margins(*kernel, request, inputs);
}

/// The largest error, relative to the sum of the magnitudes of an element's terms.
double error_of(const Tensor& y, const std::vector<Tensor>& inputs, const Attributes& attributes) {
  std::vector<Tensor> magnitudes;
  for (const Tensor& x : inputs) {
    std::vector<double> numbers = x.to_doubles();
    for (double& number : numbers) number = std::abs(number);
    magnitudes.push_back(Tensor(x.shape(), numbers).cast(DType::float32));
  }
  const std::vector<double> got = y.to_doubles(), exact = exact_result("matmul", attributes, inputs).to_doubles(),
                            terms = exact_result("matmul", attributes, magnitudes).to_doubles();
  double error = 0;
  for (std::size_t i = 0; i < got.size(); ++i) error = std::max(error, std::abs(got[i] - exact[i]) / terms[i]);
  return error;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(float32_matmul)

BOOST_AUTO_TEST_CASE(parts_of_numbers) {
  const std::vector<float> x{1.0F,     1.2345678F, -3.1415927F, 1e-20F, largest,    -largest,
                             infinity, -infinity,  NAN,         0.0F,   0x1.ffp127F};
  const auto count = static_cast<std::int64_t>(x.size());
  std::vector<bfloat16> high(x.size()), finite(x.size()), low(x.size()), rounded(x.size());
  const auto& functions = xsimd_kernels::kernels(isa()).float32_split;
  functions.split(x.data(), high.data(), finite.data(), low.data(), count);
  functions.round(x.data(), rounded.data(), count);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float h = static_cast<float>(high[i]), f = static_cast<float>(finite[i]), l = static_cast<float>(low[i]);
    BOOST_TEST(high[i].bits == rounded[i].bits);
    BOOST_TEST(std::isfinite(l));
    if (!std::isfinite(x[i])) {
      BOOST_TEST(l == 0);
      BOOST_TEST(f == 0);
      BOOST_TEST((h == x[i] || (std::isnan(h) && std::isnan(x[i]))));
      continue;
    }
    BOOST_TEST(f == h);
    BOOST_TEST(std::abs(h) <= largest);
    BOOST_TEST(std::abs(static_cast<double>(x[i]) - h - l) <= 0x1p-16 * std::abs(x[i]));
  }
}

BOOST_AUTO_TEST_CASE(errors_are_within_their_bounds) {
  if (!onednn_has_native_bfloat16()) return skip("needs bfloat16 in hardware");
  for (int transposes = 0; transposes < 4; ++transposes) {
    const bool ta = (transposes & 1) != 0, tb = (transposes & 2) != 0;
    const std::vector<Tensor> inputs{random_tensor(ta ? Shape{100, 33} : Shape{33, 100}, DType::float32, 1),
                                     random_tensor(tb ? Shape{50, 100} : Shape{100, 50}, DType::float32, 2)};
    const double three = error_of(run(3, product(ta, tb), inputs), inputs, product(ta, tb));
    const double one = error_of(run(1, product(ta, tb), inputs), inputs, product(ta, tb));
    BOOST_TEST(three < 0x1p-16);
    BOOST_TEST(one < 0x1p-7);
    BOOST_TEST(one > 10 * three);
  }
}

BOOST_AUTO_TEST_CASE(stacks_bias_and_relu) {
  if (!onednn_has_native_bfloat16()) return skip("needs bfloat16 in hardware");
  const std::vector<Tensor> stack{random_tensor({3, 20, 30}, DType::float32, 1),
                                  random_tensor({3, 30, 10}, DType::float32, 2)};
  BOOST_TEST(error_of(run(3, product(), stack), stack, product()) < 0x1p-16);
  Attributes relu = product();
  relu.set("epilogue", detail::Epilogue::relu);
  const std::vector<Tensor> biased{random_tensor({20, 30}, DType::float32, 1),
                                   random_tensor({30, 10}, DType::float32, 2), random_tensor({10}, DType::float32, 3)};
  const Tensor got = run(3, relu, biased);
  BOOST_TEST(largest_difference(got, exact_result("matmul", relu, biased)) < 1e-4);
}

BOOST_AUTO_TEST_CASE(infinities_nan_and_large_numbers_are_those_of_float32) {
  if (!onednn_has_native_bfloat16()) return skip("needs bfloat16 in hardware");
  const auto one = [](float a, float b) {
    return std::vector<Tensor>{Tensor({1, 2}, std::vector<float>{a, 1}), Tensor({2, 1}, std::vector<float>{b, 1})};
  };
  for (const std::int64_t parts : {1, 3}) {
    const auto value = [&](float a, float b) { return run(parts, product(), one(a, b)).item(); };
    BOOST_TEST(value(infinity, 1) == infinity);
    BOOST_TEST(value(infinity, 1.0000001F) == infinity);
    BOOST_TEST(value(-infinity, 2) == -infinity);
    BOOST_TEST(value(infinity, infinity) == infinity);
    BOOST_TEST(std::isnan(value(infinity, 0)));
    BOOST_TEST(std::isnan(value(NAN, 1)));
    BOOST_TEST(value(3.3e38F, 1) == 3.3e38F, boost::test_tools::tolerance(parts == 3 ? 0x1p-15 : 0x1p-7));
    BOOST_TEST(value(1e20F, 1e10F) == 1e30, boost::test_tools::tolerance(parts == 3 ? 0x1p-15 : 0x1p-7));
  }
}

BOOST_AUTO_TEST_CASE(conditions_of_the_choice) {
  const KernelRequest large =
      kernel_request("matmul", product(), {Spec{{512, 512}, DType::float32}, Spec{{512, 512}, DType::float32}});
  const KernelRequest small =
      kernel_request("matmul", product(), {Spec{{4, 512}, DType::float32}, Spec{{512, 512}, DType::float32}});
  using onednn::prefers_float32_products;
  BOOST_TEST(prefers_float32_products(large, false, false, true) == "");
  BOOST_TEST(prefers_float32_products(large, true, true, true) == "");
  BOOST_TEST(prefers_float32_products(large, true, false, true) ==
             "float32_matmul_precision \"high\" needs AMX: without it three products of bfloat16 are slower");
  BOOST_TEST(prefers_float32_products(large, false, false, false) ==
             "float32_matmul_precision \"medium\" needs a CPU that multiplies bfloat16 faster than float32");
  BOOST_TEST(
      prefers_float32_products(small, false, false, true) ==
      "float32_matmul_precision \"medium\" is for products with more than 128 operations an operand element; got "
      "7.938");
}

BOOST_AUTO_TEST_SUITE_END()
