#include <boost/test/unit_test.hpp>

#include <cmath>

#include "support/xsimd.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

struct Case {
  Shape x;
  std::int64_t filters;
  Shape padding;

  Shape kernel() const { return {3, 3, x[3], filters}; }
  Shape y() const { return {x[0], x[1] + padding[0] + padding[1] - 2, x[2] + padding[2] + padding[3] - 2, filters}; }
  Attributes attributes() const {
    return {{"strides", Shape{1, 1}}, {"padding", padding}, {"dilation", Shape{1, 1}}, {"groups", std::int64_t{1}}};
  }
  Attributes of_gradient(const Shape& shape, DType dtype) const {
    Attributes out = attributes();
    out.set("shape", shape);
    out.set("dtype", dtype);
    return out;
  }
};

// Whole tiles and parts of them, channels that fill registers and panels or don't, every padding, several chunks.
const Case cases[] = {{{32, 4, 4, 16}, 16, {1, 1, 1, 1}},  {{3, 13, 15, 20}, 33, {0, 0, 0, 0}},
                      {{2, 17, 19, 33}, 17, {1, 1, 1, 1}}, {{2, 16, 14, 16}, 64, {2, 1, 0, 2}},
                      {{9, 23, 18, 48}, 16, {0, 2, 2, 1}}, {{12, 7, 7, 150}, 130, {1, 1, 1, 1}}};

const DType halves[] = {DType::bfloat16, DType::float16};

/// Of sums of n products of numbers in [-1, 1], added one after another: their rounding grows with n, and the
/// transforms' factors, up to 8 and 5 on each side, multiply it. bfloat16 rounds some ten times as much.
double tolerance_of(std::int64_t n) { return 6 * 0x1p-23 * static_cast<double>(n); }

}  // namespace

BOOST_AUTO_TEST_SUITE(xsimd_winograd)

BOOST_AUTO_TEST_CASE(convolution) {
  for (const Case& c : cases) {
    for (const DType dtype : halves) {
      const std::vector<Tensor> operands{random_tensor(c.x, dtype, 1), random_tensor(c.kernel(), dtype, 2)};
      check_xsimd("conv2d", c.attributes(), operands, tolerance_of(9 * c.x[3]));
    }
  }
}

BOOST_AUTO_TEST_CASE(bias_and_relu) {
  for (const Case& c : cases) {
    const std::vector<Tensor> operands{random_tensor(c.x, DType::bfloat16, 1),
                                       random_tensor(c.kernel(), DType::bfloat16, 2), random_tensor({c.filters})};
    Attributes attributes = c.attributes();
    check_xsimd("conv2d", attributes, operands, tolerance_of(9 * c.x[3]));
    attributes.set("activation", std::string("relu"));
    check_xsimd("conv2d", attributes, operands, tolerance_of(9 * c.x[3]));
  }
}

BOOST_AUTO_TEST_CASE(input_gradient) {
  for (const Case& c : cases) {
    for (const DType dtype : halves) {
      const std::vector<Tensor> operands{random_tensor(c.y(), dtype, 1), random_tensor(c.kernel(), dtype, 2)};
      for (const DType out : {dtype, DType::float32}) {
        check_xsimd("conv2d_input_gradient", c.of_gradient(c.x, out), operands, tolerance_of(9 * c.filters));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(kernel_gradient) {
  for (const Case& c : cases) {
    const Shape y = c.y();
    for (const DType dtype : halves) {
      const std::vector<Tensor> operands{random_tensor(c.x, dtype, 1), random_tensor(y, dtype, 2)};
      for (const DType out : {dtype, DType::float32}) {
        check_xsimd("conv2d_kernel_gradient", c.of_gradient(c.kernel(), out), operands,
                    tolerance_of(y[0] * y[1] * y[2]));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_number_that_is_none_stays_one) {
  const Case& c = cases[0];
  Tensor x(c.x, DType::bfloat16);
  x.mutable_data<bfloat16>()[0] = bfloat16(std::nanf(""));
  const std::vector<Tensor> operands{x, random_tensor(c.kernel(), DType::bfloat16)};
  Attributes attributes = c.attributes();
  attributes.set("activation", std::string("relu"));
  const KernelRequest request = kernel_request("conv2d", attributes, operands);
  for_each_isa([&](Isa isa) {
    std::string reason;
    const auto kernel = xsimd_kernel(request, isa, reason);
    BOOST_TEST_REQUIRE(kernel != nullptr, reason);
    BOOST_TEST(std::isnan(run_kernel(*kernel, request, operands)[0].to_doubles()[0]));
  });
}

BOOST_AUTO_TEST_CASE(what_it_declines) {
  const auto reason_of = [](const Case& c, DType dtype, const char* name, const Attribute& value) {
    Attributes attributes = c.attributes();
    attributes.set(name, value);
    std::string reason;
    const KernelRequest request = kernel_request("conv2d", attributes, {Tensor(c.x, dtype), Tensor(c.kernel(), dtype)});
    BOOST_TEST(xsimd_kernel(request, isa(), reason) == nullptr);
    return reason;
  };
  const std::string shape = "winograd is for 3 x 3 kernels without strides, dilation and groups, padded by 2 at most";
  const std::string worth = "winograd needs 16 channels and filters, 32 tiles of 4 x 4 and half of their pixels in use";
  const Case good = cases[0];
  const std::int64_t one = 1;
  BOOST_TEST(reason_of(good, DType::bfloat16, "strides", Shape{2, 2}) == shape);
  BOOST_TEST(reason_of(good, DType::bfloat16, "padding", Shape{3, 0, 0, 0}) == shape);
  BOOST_TEST(reason_of(good, DType::float32, "groups", one) == "winograd rounds more than float32 operands deserve");
  BOOST_TEST(reason_of({{32, 4, 4, 8}, 16, {1, 1, 1, 1}}, DType::bfloat16, "groups", one) == worth);
  BOOST_TEST(reason_of({{31, 4, 4, 16}, 16, {1, 1, 1, 1}}, DType::bfloat16, "groups", one) == worth);
  BOOST_TEST(reason_of({{32, 2, 2, 16}, 16, {1, 1, 1, 1}}, DType::bfloat16, "groups", one) == worth);
}

BOOST_AUTO_TEST_SUITE_END()
