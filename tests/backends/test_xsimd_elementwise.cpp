#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

#include "support/xsimd.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// Random numbers, with special ones at the beginning.
Tensor with_specials(std::int64_t size, DType dtype, double low, double high) {
  Tensor x = random_tensor({size}, DType::float32, 1, low, high);
  const float infinity = std::numeric_limits<float>::infinity();
  const float specials[] = {0, -0.0F, infinity, -infinity, std::nanf(""), 1e-40F, -1e-40F, 6e-8F, 70000, -3e38F, 88.5F};
  float* data = x.mutable_data<float>();
  for (std::int64_t i = 0; i < std::min<std::int64_t>(size, std::size(specials)); ++i) data[i] = specials[i];
  return x.cast(dtype);
}

const std::vector<std::string> binary_ops{"add", "subtract", "multiply", "divide"};

}  // namespace

BOOST_AUTO_TEST_SUITE(xsimd_elementwise)

BOOST_AUTO_TEST_CASE(one_operand) {
  for (const DType dtype : xsimd_dtypes) {
    for (const std::int64_t size : xsimd_sizes) {
      const Tensor x = with_specials(size, dtype, -3, 3);
      for (const char* op : {"relu", "negative", "abs", "sign"}) check_xsimd(op, {}, {x}, 0);
      check_xsimd("relu", {{"max_value", 6.0}}, {with_specials(size, dtype, -9, 9)}, 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(exp_and_log) {
  for (const DType dtype : xsimd_dtypes) {
    for (const std::int64_t size : xsimd_sizes) {
      check_xsimd("exp", {}, {with_specials(size, dtype, -104, 89)}, 2e-7);
      check_xsimd("log", {}, {with_specials(size, dtype, 0, 4)}, 2e-7);
    }
  }
}

// To two units in the last place of numbers about 1; the error of gelu grows with x.
BOOST_AUTO_TEST_CASE(activations) {
  for (const DType dtype : xsimd_dtypes) {
    for (const std::int64_t size : xsimd_sizes) {
      const Tensor x = with_specials(size, dtype, -12, 12), y = with_specials(size, dtype, -1, 1);
      const Tensor g = random_tensor({size}, dtype, 2, -3, 3);
      check_xsimd("tanh", {}, {x}, 2e-7);
      check_xsimd("sigmoid", {}, {x}, 2e-7);
      check_xsimd("tanh_gradient", {}, {y, g}, 4e-7);
      check_xsimd("sigmoid_gradient", {}, {y, g}, 4e-7);
      for (const bool approximate : {false, true}) {
        check_xsimd("gelu", {{"approximate", approximate}}, {x}, 5e-7);
        check_xsimd("gelu_gradient", {{"approximate", approximate}}, {x, g}, 1e-6);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(small_results_of_activations_keep_their_digits) {
  const Tensor x({3}, std::vector<float>{1e-20F, -1e-20F, 1e-4F});
  const Tensor low({2}, std::vector<float>{-80, -20});
  for_each_isa([&](Isa isa) {
    const auto run = [&](const char* op, const Attributes& attributes, const Tensor& of) {
      const KernelRequest request = kernel_request(op, attributes, {of});
      std::string reason;
      return run_kernel(*xsimd_kernel(request, isa, reason), request, {of}).at(0).to_doubles();
    };
    const auto near = [](double a, double b) { return std::abs(a - b) <= 3e-7 * std::abs(b); };
    const auto tanh = run("tanh", {}, x), sigmoid = run("sigmoid", {}, low);
    for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(near(tanh[i], std::tanh(x.to_doubles()[i])));
    for (std::size_t i = 0; i < 2; ++i) BOOST_TEST(near(sigmoid[i], std::exp(low.to_doubles()[i])));
    const auto gelu = run("gelu", {{"approximate", false}}, Tensor({1}, std::vector<float>{-4}));
    BOOST_TEST(std::abs(gelu[0] + 2 * std::erfc(std::sqrt(8.0))) <= 1e-6 * std::abs(gelu[0]));
  });
}

BOOST_AUTO_TEST_CASE(same_shape) {
  for (const DType dtype : xsimd_dtypes) {
    for (const std::int64_t size : xsimd_sizes) {
      const Tensor a = with_specials(size, dtype, -3, 3), b = random_tensor({size}, dtype, 2, -3, 3);
      for (const std::string& op : binary_ops) check_xsimd(op, {}, {a, b}, 0);
      check_xsimd("relu_gradient", {}, {a, b}, 0);
      check_xsimd("relu_gradient", {{"max_value", 6.0}}, {with_specials(size, dtype, -3, 9), b}, 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(shared_by_threads) {
  for (const DType dtype : xsimd_dtypes) {
    const Tensor a = with_specials(shared_size, dtype, -3, 3), b = random_tensor({shared_size}, dtype, 2, -3, 3);
    check_xsimd("relu", {}, {a}, 0);
    check_xsimd("tanh", {}, {a}, 2e-7);
    check_xsimd("divide", {}, {a, b}, 0);
  }
}

BOOST_AUTO_TEST_CASE(broadcast) {
  const std::vector<std::pair<Shape, Shape>> shapes{{{1003}, {}},           {{5, 17}, {17}},
                                                    {{300, 64}, {64}},      {{2, 3, 16}, {1, 1, 16}},
                                                    {{6, 7, 10}, {7, 10}},  {{65, 7}, {65, 1}},
                                                    {{31, 1}, {1, 33}},     {{1}, {3}},
                                                    {{200, 129}, {1, 1}},   {{4, 5, 1}, {4, 5, 8}},
                                                    {{3, 1}, {1, 1, 20}},   {{2, 2, 2, 9}, {2, 1, 1, 1}},
                                                    {{2, 3, 4}, {2, 1, 4}}, {{3, 90, 130}, {3, 1, 130}},
                                                    {{2, 1, 5}, {1, 3, 5}}, {{2, 3, 4}, {1, 3, 1}}};
  for (const DType dtype : xsimd_dtypes) {
    for (const auto& [first, second] : shapes) {
      const Tensor a = random_tensor(first, dtype, 1, -3, 3), b = random_tensor(second, dtype, 2, 1, 3);
      for (const std::string& op : binary_ops) {
        check_xsimd(op, {}, {a, b}, 0);
        check_xsimd(op, {}, {b, a}, 0);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(declines) {
  std::string reason;
  const auto request = [](const Shape& a, const Shape& b, DType dtype) {
    return kernel_request("add", {}, std::vector<Spec>{{a, dtype}, {b, dtype}});
  };
  BOOST_TEST(!xsimd_kernel(request({2, 3, 4, 5}, {2, 1, 4, 1}, DType::float32), Isa::sse2, reason));
  BOOST_TEST(reason == "takes shapes that merge to 3 axes; got 4 axes from (2, 3, 4, 5) and (2, 1, 4, 1)");
  BOOST_TEST(!xsimd_kernel(request({2}, {2}, DType::float64), Isa::sse2, reason));
  BOOST_TEST(reason == "takes float32, bfloat16 and float16; got float64");
  BOOST_TEST(!xsimd_kernel(request({2}, {2}, DType::int32), Isa::sse2, reason));
  BOOST_TEST(reason == "takes float32, bfloat16 and float16; got int32");
}

BOOST_AUTO_TEST_SUITE_END()
