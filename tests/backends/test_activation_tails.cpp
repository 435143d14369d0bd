// Activations far below 0, where the result is a normal number and the factors of its formula are none.
#include <boost/test/unit_test.hpp>

#include <cfloat>
#include <cmath>
#include <limits>

#include <mezzo/mezzo.hpp>

#include "support/xsimd.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

struct Tail {
  const char* op;
  Attributes attributes;
  double tolerance;  // relative; gelu rounds the argument of its exp, which is about -88: by a part of 6e-8
};

const std::vector<Tail>& tails() {
  static const std::vector<Tail> all{{"silu", {}, 1e-6},
                                     {"silu_gradient", {}, 1e-6},
                                     {"gelu", {{"approximate", false}}, 1e-5},
                                     {"gelu_gradient", {{"approximate", false}}, 1e-5},
                                     {"gelu", {{"approximate", true}}, 2e-5},
                                     {"gelu_gradient", {{"approximate", true}}, 2e-5}};
  return all;
}

bool is_gradient(const Tail& tail) { return std::string(tail.op).find("_gradient") != std::string::npos; }

/// x, and ones for the cotangent of a gradient.
std::vector<Tensor> operands(const Tail& tail, DType dtype) {
  const double low = std::string(tail.op).find("gelu") == 0 ? -14 : -93;
  std::vector<double> numbers;
  for (int i = 0; i < 400; ++i) numbers.push_back(static_cast<float>(low * (0.6 + 0.001 * i)));
  const Tensor x = Tensor({400}, numbers).cast(dtype);
  if (!is_gradient(tail)) return {x};
  return {x, Tensor({400}, std::vector<double>(400, 1)).cast(dtype)};
}

/// Checks the results that are normal float32 numbers; others may be 0.
void check_near(const std::vector<double>& got, const std::vector<double>& exact, const Tail& tail) {
  int normal = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::abs(exact[i]) < 1.001 * FLT_MIN) continue;
    ++normal;
    const double error = std::abs(got[i] - exact[i]) / std::abs(exact[i]);
    BOOST_TEST(error <= tail.tolerance, tail.op << " " << i << ": " << got[i] << ", exactly " << exact[i]);
  }
  BOOST_TEST(normal > 100);
}

std::vector<double> exact_of(const Tail& tail) {
  return run_reference(tail.op, tail.attributes, operands(tail, DType::float64)).at(0).to_doubles();
}

/// What the kernel gives at x; a gradient for a cotangent of ones.
std::vector<double> results(const Tail& tail, const Tensor& x, Isa isa) {
  const Tensor ones = Tensor(x.shape(), std::vector<double>(static_cast<std::size_t>(x.size()), 1)).cast(x.dtype());
  const std::vector<Tensor> inputs = is_gradient(tail) ? std::vector<Tensor>{x, ones} : std::vector<Tensor>{x};
  const KernelRequest request = kernel_request(tail.op, tail.attributes, inputs);
  std::string reason;
  return run_kernel(*xsimd_kernel(request, isa, reason), request, inputs).at(0).to_doubles();
}

template <class Body>
void for_each_tail(const Body& body) {
  for_each_isa([&](Isa isa) {
    for (const DType dtype : xsimd_dtypes) {
      for (const Tail& tail : tails()) {
        BOOST_TEST_CONTEXT(tail.op << " " << dtype_name(dtype)) { body(tail, dtype, isa); }
      }
    }
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(activation_tails)

BOOST_AUTO_TEST_CASE(are_not_0_in_the_reference) {
  for (const Tail& tail : tails()) {
    const auto got = run_reference(tail.op, tail.attributes, operands(tail, DType::float32)).at(0).to_doubles();
    check_near(got, exact_of(tail), {tail.op, {}, 1e-7});
  }
}

BOOST_AUTO_TEST_CASE(are_not_0_in_the_vector_kernels) {
  for_each_isa([](Isa isa) {
    for (const Tail& tail : tails()) {
      const std::vector<Tensor> inputs = operands(tail, DType::float32);
      const KernelRequest request = kernel_request(tail.op, tail.attributes, inputs);
      std::string reason;
      check_near(run_kernel(*xsimd_kernel(request, isa, reason), request, inputs).at(0).to_doubles(), exact_of(tail),
                 tail);
    }
  });
}

BOOST_AUTO_TEST_CASE(are_not_0_in_functions) {
  const auto at = [](Value (*function)(const Value&), double x) {
    const Tensor number({1}, std::vector<float>{static_cast<float>(x)});
    const auto [value, gradient] = value_and_grad([function](const Value& of) { return sum(function(of)); })(number);
    return std::pair{value.tensor().item(), gradient.tensor().item()};
  };
  for (const double x : {-89.0, -75.0, -61.0, -59.0}) {
    for (const auto function :
         {static_cast<Value (*)(const Value&)>(silu), static_cast<Value (*)(const Value&)>(mish)}) {
      const auto [value, gradient] = at(function, x);
      BOOST_TEST(value == x * std::exp(x), boost::test_tools::tolerance(1e-6));
      BOOST_TEST(gradient == (1 + x) * std::exp(x), boost::test_tools::tolerance(2e-6));
    }
  }
}

// Steps are far larger than the error, so results can only be equal after they are rounded.
BOOST_AUTO_TEST_CASE(are_monotone_down_to_0) {
  std::vector<float> numbers;
  for (int i = 0; i < 4000; ++i) numbers.push_back(-5.0F - 0.03F * static_cast<float>(i));
  for_each_tail([x = Tensor({4000}, numbers)](const Tail& tail, DType dtype, Isa isa) {
    const std::vector<double> y = results(tail, x.cast(dtype), isa);
    for (std::size_t i = 1; i < y.size(); ++i) BOOST_TEST((y[i] >= y[i - 1] && y[i] <= 0), i);
    BOOST_TEST(y.back() == 0);
  });
}

BOOST_AUTO_TEST_CASE(of_special_numbers) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const Tensor all({6}, std::vector<float>{-infinity, infinity, std::nanf(""), -0.0F, -3e38F, 3e38F});
  for_each_tail([&](const Tail& tail, DType dtype, Isa isa) {
    const Tensor x = all.cast(dtype);  // the last two are infinite in float16
    const std::vector<double> y = results(tail, x, isa);
    BOOST_TEST(y[0] == 0);
    BOOST_TEST(y[1] == (is_gradient(tail) ? 1 : static_cast<double>(infinity)));
    BOOST_TEST(std::isnan(y[2]));
    if (is_gradient(tail)) {
      BOOST_TEST(std::abs(y[3] - 0.5) <= 1e-7);
    } else {
      BOOST_TEST((y[3] == 0 && std::signbit(y[3])));
    }
    BOOST_TEST(y[4] == 0);
    BOOST_TEST(y[5] == (is_gradient(tail) ? 1 : x.to_doubles()[5]));
  });
}

BOOST_AUTO_TEST_CASE(infinities_and_nans_stay) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Tensor x({3}, std::vector<float>{-infinity, infinity, std::nanf("")});
  const auto y = silu(x).tensor().to_doubles();
  BOOST_TEST(y[0] == 0);
  BOOST_TEST(y[1] == infinity);
  BOOST_TEST(std::isnan(y[2]));
}

BOOST_AUTO_TEST_SUITE_END()
