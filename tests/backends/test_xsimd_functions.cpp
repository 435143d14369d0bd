#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

#include "support/precision.hpp"
#include "support/xsimd.hpp"

using namespace mezzo;
using namespace mezzo_tests;

// Errors of elementary functions in units in the last place, against float64.
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// Numbers from `low` to `high`, in equal steps or, if `low` is above 0 and far below `high`, by equal factors.
Tensor range(double low, double high, std::int64_t count = 4001) {
  Tensor x({count}, DType::float32);
  const bool factors = low > 0 && high > 1000 * low;
  for (std::int64_t i = 0; i < count; ++i) {
    const double place = static_cast<double>(i) / static_cast<double>(count - 1);
    x.mutable_data<float>()[i] =
        static_cast<float>(factors ? low * std::pow(high / low, place) : low + (high - low) * place);
  }
  return x;
}

double error_of(double x, double exact) {
  const auto rounded = static_cast<double>(static_cast<float>(exact));
  if (x == rounded || (std::isnan(x) && std::isnan(exact))) return 0;
  if (!std::isfinite(x) || !std::isfinite(rounded)) return infinity;
  return std::abs(x - exact) / ulp(DType::float32, exact);
}

/// Compares the kernels of every instruction set with the reference in float64. `unfused`: the bound without fused
/// products, if it is another one.
void check_error(const char* op, const std::vector<Tensor>& operands, double ulps, const Attributes& attributes = {},
                 double unfused = 0) {
  std::vector<Tensor> wide;
  for (const Tensor& operand : operands) wide.push_back(operand.cast(DType::float64));
  const auto exact = run_reference(op, attributes, wide)[0].to_doubles();
  const KernelRequest request = kernel_request(op, attributes, operands);
  for_each_isa([&](Isa isa) {
    std::string reason;
    const auto kernel = xsimd_kernel(request, isa, reason);
    BOOST_TEST_REQUIRE(kernel != nullptr, reason);
    const auto results = run_kernel(*kernel, request, operands)[0].to_doubles();
    double worst = 0;
    std::size_t at = 0;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const double error = error_of(results[i], exact[i]);
      if (error <= worst) continue;
      worst = error;
      at = i;
    }
    BOOST_TEST_MESSAGE(op << ": " << worst << " units");
    const double bound = isa == Isa::sse2 && unfused > 0 ? unfused : ulps;
    BOOST_TEST(worst <= bound, op << " of " << operands[0].to_doubles()[at] << " is " << results[at] << ", exactly "
                                  << exact[at] << ": " << worst << " units");
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(xsimd_functions)

BOOST_AUTO_TEST_CASE(one_operand) {
  struct Row {
    const char* op;
    double low, high, ulps;
  };
  const Row rows[] = {{"arccos", -1, 1, 3},
                      {"arccosh", 1, 50, 4},
                      {"arccosh", 50, 3e38, 4},
                      {"arcsin", -1, 1, 3},
                      {"arcsinh", -5, 5, 4},
                      {"arcsinh", 1e-10, 3e38, 4},
                      {"arctan", -9, 9, 3},
                      {"arctan", 1e-9, 3e38, 3},
                      {"arctanh", -0.999, 0.999, 4},
                      {"cbrt", -9, 9, 2},
                      {"cbrt", 1e-38, 3e38, 2},
                      {"cos", -100, 100, 2},
                      {"cosh", -89.4, 89.4, 3},
                      {"erf", -5, 5, 3},
                      {"erfc", -5, 9.2, 8},
                      {"erfinv", -0.9999, 0.9999, 6},
                      {"exp2", -149, 129, 3},
                      {"log10", 1e-38, 3e38, 3},
                      {"log2", 1e-38, 3e38, 3},
                      {"log2", 0.5, 2, 3},
                      {"sin", -100, 100, 2},
                      {"sinh", -89.4, 89.4, 3},
                      {"sinh", -1.5, 1.5, 3},
                      {"tan", -1.57, 1.57, 4},
                      {"tan", -30, 30, 4}};
  for (const Row& row : rows) check_error(row.op, {range(row.low, row.high)}, row.ulps);
}

BOOST_AUTO_TEST_CASE(functions_of_exponentials) {
  check_error("exp", {range(-104, 89)}, 1.1);
  check_error("sigmoid", {range(-87, 20)}, 3);
  check_error("tanh", {range(-12, 12)}, 2.5);
  check_error("tanh", {range(1e-38, 3e38)}, 2.5);
  const Tensor x(
      {10}, std::vector<float>{0, -0.0F, infinity, -infinity, std::nanf(""), 1e-40F, -1e-40F, 3e38F, -3e38F, -0.5F});
  for (const char* op : {"exp", "sigmoid", "tanh"}) check_error(op, {x}, 2.5);
}

// Results that are normal numbers. The approximate GELU rounds the argument of its exp, which is large far below 0.
BOOST_AUTO_TEST_CASE(products_with_distributions) {
  const Attributes exact{{"approximate", false}}, approximate{{"approximate", true}};
  check_error("silu", {range(-91, 20)}, 4);
  check_error("silu", {range(1e-30, 3e38)}, 2);
  check_error("gelu", {range(-5, 8)}, 7, exact, 16);
  check_error("gelu", {range(-13.1, -5)}, 8, exact, 90);
  check_error("gelu", {range(1e-30, 3e38)}, 4, exact);
  check_error("gelu", {range(-3, 6)}, 20, approximate);
  check_error("gelu", {range(-10, -3)}, 250, approximate);
  check_error("gelu", {range(1e-30, 3e38)}, 2, approximate);
}

/// Slopes as gradients of ones. They cross 0, so the error is that of numbers about 1.
BOOST_AUTO_TEST_CASE(slopes_of_products_with_distributions) {
  for (const double width : {1.0, 12.0, 130.0}) {
    const Tensor x = range(-width, width), ones({x.size()}, std::vector<float>(static_cast<std::size_t>(x.size()), 1));
    check_xsimd("silu_gradient", {}, {x, ones}, 4e-7);
    for (const bool approximate : {false, true}) {
      check_xsimd("gelu_gradient", {{"approximate", approximate}}, {x, ones}, 4e-7);
    }
  }
}

BOOST_AUTO_TEST_CASE(special_numbers) {
  const Tensor x({16}, std::vector<float>{0, -0.0F, infinity, -infinity, std::nanf(""), 1, -1, 2, -2, 1e-40F, -1e-40F,
                                          3e38F, -3e38F, 1e5F, -0.5F, 100});
  for (const char* op : {"arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "cbrt", "cos", "cosh", "erf",
                         "erfc", "erfinv", "exp2", "log10", "log2", "sin", "sinh", "tan"}) {
    check_error(op, {x}, 8);
  }
}

BOOST_AUTO_TEST_CASE(two_operands) {
  std::vector<float> a, b;
  const float some[] = {0,    -0.0F, infinity, -infinity, std::nanf(""), 1,      -1,    2.5F, -2.5F,
                        0.3F, 7,     -7,       100.25F,   1e10F,         1e-20F, 3e38F, 0.75F};
  for (const float x : some) {
    for (const float y : some) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  const auto count = static_cast<std::int64_t>(a.size());
  const Tensor x({count}, a), y({count}, b);
  for (const char* op : {"arctan2", "hypot", "logaddexp", "fmod", "mod", "floor_divide"}) {
    const bool divides = std::string(op).find("mod") != std::string::npos || std::string(op) == "floor_divide";
    if (!divides) check_error(op, {x, y}, 4);
    check_xsimd(op, {}, {x, y}, divides ? 0 : 1e-6);
  }
  const Tensor p = random_tensor({4001}, DType::float32, 1, -50, 50),
               q = random_tensor({4001}, DType::float32, 2, -3, 3);
  check_error("arctan2", {p, q}, 4);
  check_error("hypot", {p, q}, 2);
  for (const char* op : {"fmod", "mod", "floor_divide"}) {
    check_xsimd(op, {}, {p, q}, 0);
    check_xsimd(op, {}, {range(1e-3, 1e9), q}, 0);
    for (const DType dtype : {DType::bfloat16, DType::float16}) check_xsimd(op, {}, {p.cast(dtype), q.cast(dtype)}, 0);
  }
}

BOOST_AUTO_TEST_SUITE_END()
