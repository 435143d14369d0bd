#include <boost/test/unit_test.hpp>

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

BOOST_AUTO_TEST_SUITE_END()
