#include <boost/test/unit_test.hpp>

#include "support/xsimd.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const std::vector<Shape> shapes{{1, 1},  {2, 3},     {5, 7, 8},  {65, 10},   {3, 5, 16},
                                {2, 17}, {4, 6, 64}, {130, 130}, {14000, 5}, {3, 9001}};
const Attributes attributes{{"epsilon", 1e-3}};

std::vector<Tensor> operands(const Tensor& x, const Shape& features) {
  return {x, random_tensor(features, DType::float32, 2, 0.5, 2), random_tensor(features, DType::float32, 3)};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(xsimd_layer_norm)

BOOST_AUTO_TEST_CASE(forward) {
  for (const DType dtype : xsimd_dtypes) {
    for (const Shape& shape : shapes) {
      check_xsimd("layer_norm", attributes, operands(random_tensor(shape, dtype, 1, -2, 5), {shape.back()}), 4e-6);
    }
  }
}

BOOST_AUTO_TEST_CASE(over_several_axes) {
  const Tensor x = random_tensor({6, 5, 7}, DType::float32, 1, -2, 5);
  check_xsimd("layer_norm", attributes, operands(x, {5, 7}), 4e-6);
  check_xsimd("layer_norm", attributes, operands(x, {6, 5, 7}), 4e-6);
}

BOOST_AUTO_TEST_CASE(mean_far_from_zero) {
  check_xsimd("layer_norm", attributes, operands(random_tensor({50, 768}, DType::float32, 1, 1000, 1001), {768}), 1e-5);
}

BOOST_AUTO_TEST_CASE(gradient) {
  for (const DType dtype : xsimd_dtypes) {
    for (const Shape& shape : shapes) {
      const Tensor x = random_tensor(shape, dtype, 1, -2, 5), g = random_tensor(shape, dtype, 2);
      const Shape features{shape.back()}, leading(shape.begin(), shape.end() - 1);
      const double rows =
          static_cast<double>(x.size()) / static_cast<double>(shape.back());  // number of terms of about 1 in the sums
      check_xsimd("layer_norm_gradient", {},
                  {g, x, random_tensor(features, DType::float32, 3, 0.5, 2),
                   random_tensor(leading, DType::float32, 4, 1, 2), random_tensor(leading, DType::float32, 5, 0.5, 1)},
                  1e-5 + 1e-8 * rows);
    }
  }
}

BOOST_AUTO_TEST_CASE(declines_float64) {
  std::string reason;
  const Spec x{{2, 3}, DType::float64}, c{{3}, DType::float64};
  BOOST_TEST(!xsimd_kernel(kernel_request("layer_norm", attributes, std::vector<Spec>{x, c, c}), Isa::sse2, reason));
  BOOST_TEST(reason == "takes float32, bfloat16 and float16; got float64");
}

BOOST_AUTO_TEST_SUITE_END()
