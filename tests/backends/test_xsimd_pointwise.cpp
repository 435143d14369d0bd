#include <boost/test/unit_test.hpp>

#include <cmath>

#include "support/xsimd.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Attributes attributes_of(const Shape& kernel, DType out) {
  return {{"strides", Shape{1, 1}},  {"padding", Shape{0, 0, 0, 0}},
          {"dilation", Shape{1, 1}}, {"groups", std::int64_t{1}},
          {"shape", kernel},         {"dtype", out}};
}

void check(const Shape& images, std::int64_t channels, std::int64_t filters) {
  Shape x = images, g = images;
  x.push_back(channels);
  g.push_back(filters);
  const double rows = static_cast<double>(images[0] * images[1] * images[2]);
  for (const DType dtype : xsimd_dtypes) {
    for (const DType out : {dtype, DType::float32}) {
      // Partial sums of numbers of about 1 grow as the root, and so does the sum of their roundings.
      check_xsimd("conv2d_kernel_gradient", attributes_of({1, 1, channels, filters}, out),
                  {random_tensor(x, dtype, 1), random_tensor(g, dtype, 2)}, 1e-6 + 1e-6 * std::sqrt(rows));
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(xsimd_pointwise)

BOOST_AUTO_TEST_CASE(kernel_gradient) {
  check({1, 16, 32}, 8, 8);
  check({2, 19, 14}, 17, 33);
  check({1, 513, 1}, 12, 70);
  check({3, 30, 31}, 24, 40);
}

BOOST_AUTO_TEST_CASE(kernel_gradient_in_blocks_of_rows) { check({4, 40, 41}, 16, 21); }

BOOST_AUTO_TEST_CASE(kernel_gradient_in_groups_of_columns) { check({2, 16, 17}, 301, 260); }

BOOST_AUTO_TEST_CASE(other_gradients_are_declined) {
  const auto reason_of = [](const Shape& x, const Shape& kernel, const Attributes& attributes) {
    std::string reason;
    const Shape& strides = attributes.get<Shape>("strides");
    const Shape g{x[0], (x[1] - kernel[0]) / strides[0] + 1, (x[2] - kernel[1]) / strides[1] + 1, kernel[3]};
    const KernelRequest request = kernel_request("conv2d_kernel_gradient", attributes, {Tensor(x), Tensor(g)});
    BOOST_TEST(!create_kernel("pointwise", request, reason));
    return reason;
  };
  const Shape x{2, 16, 16, 8}, kernel{1, 1, 8, 8};
  const std::string start = "takes 1 x 1 kernels of one group without strides and padding; got ";
  BOOST_TEST(reason_of(x, {3, 1, 8, 8}, attributes_of({3, 1, 8, 8}, DType::float32)) ==
             start + "3 x 1, 1 groups, strides (1, 1)");
  BOOST_TEST(reason_of(x, kernel, with_attribute(attributes_of(kernel, DType::float32), "strides", Shape{2, 2})) ==
             start + "1 x 1, 1 groups, strides (2, 2)");
  BOOST_TEST(reason_of({1, 16, 16, 8}, kernel, attributes_of(kernel, DType::float32)) ==
             "takes at least 512 pixels and 8 channels and filters; got 256 pixels, 8 channels, 8 filters");
}

BOOST_AUTO_TEST_SUITE_END()
