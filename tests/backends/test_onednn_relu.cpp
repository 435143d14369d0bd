#include <boost/test/unit_test.hpp>

#include <xmmintrin.h>

#include <cmath>
#include <limits>

#include <mezzo/core/isa.hpp>

#include "support/kernels.hpp"
#include "support/skip.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

struct Case {
  std::string op;
  Attributes attributes;
  std::vector<Shape> operands;
};

/// Outputs below and above the size from which oneDNN's own ReLU is used; with one channel, as in a first layer.
const std::vector<Case>& cases() {
  const Attributes geometry{
      {"strides", Shape{1, 1}}, {"padding", Shape{1, 1, 1, 1}}, {"dilation", Shape{1, 1}}, {"groups", std::int64_t{1}}};
  const Attributes plain{{"transpose_a", false}, {"transpose_b", false}};
  static const std::vector<Case> all{{"matmul", plain, {{7, 30}, {30, 12}, {12}}},
                                     {"matmul", plain, {{300, 20}, {20, 100}, {100}}},
                                     {"matmul", plain, {{150, 784}, {784, 200}}},
                                     {"conv2d", geometry, {{1, 6, 6, 3}, {3, 3, 3, 8}, {8}}},
                                     {"conv2d", geometry, {{4, 28, 28, 1}, {3, 3, 1, 32}, {32}}},
                                     {"conv2d", geometry, {{3, 30, 31, 20}, {5, 5, 20, 17}}},
                                     {"conv2d", geometry, {{2, 28, 28, 32}, {1, 1, 32, 64}, {64}}}};
  return all;
}

std::vector<Tensor> operands_of(const Case& c) {
  std::vector<Tensor> out;
  for (const Shape& shape : c.operands) out.push_back(random_tensor(shape, DType::float32, out.size() + 1));
  return out;
}

std::unique_ptr<Kernel> kernel_of(const Case& c, detail::Epilogue epilogue, KernelRequest& request) {
  request = kernel_request(c.op, with_attribute(c.attributes, "epilogue", epilogue), operands_of(c));
  std::string reason;
  auto kernel = create_kernel("onednn", request, reason);
  BOOST_TEST_REQUIRE(kernel != nullptr, reason);
  return kernel;
}

/// What the product gives without ReLU, and the ReLU of each number.
Tensor expected_of(const Case& c, const std::vector<Tensor>& operands) {
  KernelRequest request;
  const auto kernel = kernel_of(c, detail::Epilogue::none, request);
  Tensor y = run_kernel(*kernel, request, operands)[0];
  for (std::int64_t i = 0; i < y.size(); ++i) {
    float& number = y.mutable_data<float>()[i];
    if (number <= 0) number = 0;
  }
  return y;
}

/// True if all numbers are equal; NaN equals NaN, -0 equals 0.
bool same(const Tensor& a, const Tensor& b) {
  const std::vector<double> x = a.to_doubles(), y = b.to_doubles();
  return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                    [](double p, double q) { return p == q || (std::isnan(p) && std::isnan(q)); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(onednn_relu)

BOOST_AUTO_TEST_CASE(nan_stays_nan_and_infinities_are_cut) {
  for (const Case& c : cases()) {
    KernelRequest request;
    const auto kernel = kernel_of(c, detail::Epilogue::relu, request);
    for (std::size_t i = 0; i < c.operands.size(); ++i) {
      for (const float number :
           {std::nanf(""), std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), 0.5F}) {
        std::vector<Tensor> operands = operands_of(c);
        operands[i].mutable_data<float>()[operands[i].size() / 2] = number;
        const Tensor got = run_kernel(*kernel, request, operands)[0];
        BOOST_TEST(same(got, expected_of(c, operands)), c.op << " " << number << " in operand " << i);
      }
    }
  }
}

// A flag that another kernel has set costs time, once, and no accuracy.
BOOST_AUTO_TEST_CASE(flags_of_others_change_nothing) {
  for (const Case& c : cases()) {
    KernelRequest request;
    const auto kernel = kernel_of(c, detail::Epilogue::relu, request);
    const std::vector<Tensor> operands = operands_of(c);
    const Tensor before = run_kernel(*kernel, request, operands)[0];
    const std::string detail = kernel->detail();
    for (int i = 0; i < 3; ++i) {
      _mm_setcsr(_mm_getcsr() | _MM_EXCEPT_INVALID);
      const Tensor again = run_kernel(*kernel, request, operands)[0];
      BOOST_TEST(same(again, before), c.op << " " << detail << " " << largest_difference(again, before));
    }
    BOOST_TEST(kernel->detail() == detail);  // oneDNN's ReLU is still in use
  }
}

BOOST_AUTO_TEST_CASE(large_outputs_use_onednns_relu) {
  if (isa() != Isa::avx2) return skip("knows oneDNN's choices on AVX2");
  KernelRequest request;
  const auto is_apart = [&](const Case& c) {
    return kernel_of(c, detail::Epilogue::relu, request)->detail().find("relu apart") != std::string::npos;
  };
  BOOST_TEST(is_apart(cases()[0]));
  BOOST_TEST(is_apart(cases()[3]));
  for (const std::size_t i : {1, 2, 4, 6}) BOOST_TEST(!is_apart(cases()[i]), i);
}

BOOST_AUTO_TEST_SUITE_END()
