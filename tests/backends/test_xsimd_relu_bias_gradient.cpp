#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

#include "support/xsimd.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(xsimd_relu_bias_gradient)

// The masked cotangent has the same bits; its sums differ by the order of additions.
BOOST_AUTO_TEST_CASE(relu) {
  for (const DType dtype : xsimd_dtypes) {
    for (const Shape& shape : {Shape{1, 1}, Shape{5, 3}, Shape{70, 17}, Shape{3, 4, 5, 64}, Shape{2100, 33}}) {
      const Tensor y = random_tensor(shape, dtype, 1), g = random_tensor(shape, dtype, 2);
      const double rows = static_cast<double>(y.size()) / static_cast<double>(shape.back());
      check_xsimd("relu_bias_gradient", {}, {y, g}, 1e-6 + 1e-9 * rows);
    }
  }
}

// Cotangents of positive outputs keep NaN, infinities and subnormals; those of other outputs are 0.
BOOST_AUTO_TEST_CASE(special_numbers) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float specials[] = {std::nanf(""), infinity, -infinity, 1e-40F, -0.0F, 0, 3e38F};
  for (const DType dtype : xsimd_dtypes) {
    Tensor y = random_tensor({9, 77}, DType::float32, 1), g = random_tensor({9, 77}, DType::float32, 2);
    std::int64_t column = 0;
    for (const float of_y : {1.0F, -1.0F, 0.0F, infinity, std::nanf("")}) {
      for (const float of_g : specials) {
        y.mutable_data<float>()[column] = of_y;
        g.mutable_data<float>()[column++] = of_g;
      }
    }
    check_xsimd("relu_bias_gradient", {}, {y.cast(dtype), g.cast(dtype)}, 1e-6);
  }
}

BOOST_AUTO_TEST_SUITE_END()
