#include <boost/test/unit_test.hpp>

#include <cmath>

#include "support/kernels.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

struct Case {
  Shape x, kernel, strides, padding, dilation;
  std::int64_t groups;

  Attributes attributes() const {
    return {{"strides", strides}, {"padding", padding}, {"dilation", dilation}, {"groups", groups}};
  }
  Attributes gradient_attributes(const Shape& shape, DType dtype) const {
    return with_attribute(with_attribute(attributes(), "shape", shape), "dtype", dtype);
  }
};

const std::vector<Case> cases{
    {{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}, 1},
    {{2, 5, 6, 3}, {3, 3, 3, 4}, {1, 1}, {0, 0, 0, 0}, {1, 1}, 1},
    {{2, 5, 6, 3}, {3, 3, 3, 4}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 1},
    {{1, 7, 8, 2}, {3, 2, 2, 5}, {2, 3}, {1, 0, 0, 1}, {1, 1}, 1},  // not all of x is reached
    {{2, 9, 9, 2}, {3, 3, 2, 3}, {1, 2}, {2, 1, 0, 3}, {2, 3}, 1},
    {{1, 6, 5, 4}, {3, 3, 2, 6}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 2},
    {{2, 6, 5, 4}, {2, 3, 1, 4}, {2, 1}, {0, 1, 1, 1}, {1, 1}, 4},     // depthwise
    {{2, 6, 5, 3}, {3, 3, 1, 6}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 3},     // two filters each
    {{3, 8, 8, 34}, {3, 3, 34, 70}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 1},  // several tiles each way
    {{1, 2, 2, 1}, {3, 3, 1, 1}, {1, 1}, {3, 3, 3, 3}, {1, 1}, 1},     // outputs that see padding only
};

/// By the definition, in double.
std::vector<double> plain(const Case& c, const Tensor& x_tensor, const Tensor& kernel_tensor, const Shape& out) {
  const std::vector<double> x = x_tensor.to_doubles(), kernel = kernel_tensor.to_doubles();
  const Shape at = detail::row_major_strides(c.x), kernel_at = detail::row_major_strides(c.kernel);
  const std::int64_t group_filters = c.kernel[3] / c.groups;
  std::vector<double> y;
  for (std::int64_t i = 0; i < element_count(out); ++i) {
    const std::int64_t f = i % out[3], column = i / out[3] % out[2], row = i / (out[3] * out[2]) % out[1];
    const std::int64_t image = i / (out[3] * out[2] * out[1]);
    double sum = 0;
    for (std::int64_t k = 0; k < kernel_at[0] * c.kernel[0] / c.kernel[3]; ++k) {
      const std::int64_t channel = k % c.kernel[2], s = k / c.kernel[2] % c.kernel[1],
                         r = k / c.kernel[2] / c.kernel[1];
      const std::int64_t h = row * c.strides[0] + r * c.dilation[0] - c.padding[0];
      const std::int64_t w = column * c.strides[1] + s * c.dilation[1] - c.padding[2];
      if (h < 0 || w < 0 || h >= c.x[1] || w >= c.x[2]) continue;
      const std::int64_t from = image * at[0] + h * at[1] + w * at[2] + f / group_filters * c.kernel[2] + channel;
      sum += x[static_cast<std::size_t>(from)] * kernel[static_cast<std::size_t>(k * c.kernel[3] + f)];
    }
    y.push_back(sum);
  }
  return y;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(reference_conv2d)

BOOST_AUTO_TEST_CASE(strides_padding_dilation_groups) {
  for (const Case& c : cases) {
    const Tensor x = small_integers(c.x, DType::float64, 1), kernel = small_integers(c.kernel, DType::float64, 2);
    const Tensor y = run_reference("conv2d", c.attributes(), {x, kernel}).front();
    BOOST_TEST((y.to_doubles() == plain(c, x, kernel, y.shape())), to_string(c.x) << to_string(c.kernel));
    const Tensor narrow =
        run_reference("conv2d", c.attributes(), {x.cast(DType::float32), kernel.cast(DType::float32)}).front();
    BOOST_TEST(narrow.equal(y.cast(DType::float32)));
  }
}

BOOST_AUTO_TEST_CASE(bias_and_activation) {
  const Case& c = cases[2];
  const Tensor x = small_integers(c.x, DType::float32, 1), kernel = small_integers(c.kernel, DType::float32, 2);
  const Tensor bias = small_integers({c.kernel[3]}, DType::float32, 3);
  const Tensor sum =
      run_reference("add", {}, {run_reference("conv2d", c.attributes(), {x, kernel}).front(), bias}).front();
  BOOST_TEST(run_reference("conv2d", c.attributes(), {x, kernel, bias}).front().equal(sum));
  const Attributes with_relu = with_attribute(c.attributes(), "epilogue", detail::Epilogue::relu);
  BOOST_TEST(
      run_reference("conv2d", with_relu, {x, kernel, bias}).front().equal(run_reference("relu", {}, {sum}).front()));
}

BOOST_AUTO_TEST_CASE(gradients_are_adjoint) {
  for (const Case& c : cases) {
    const Tensor x = small_integers(c.x, DType::float64, 1), kernel = small_integers(c.kernel, DType::float64, 2);
    const Tensor y = run_reference("conv2d", c.attributes(), {x, kernel}).front();
    const Tensor g = small_integers(y.shape(), DType::float64, 3);
    const Tensor dx =
        run_reference("conv2d_input_gradient", c.gradient_attributes(c.x, DType::float64), {g, kernel}).front();
    const Tensor dk =
        run_reference("conv2d_kernel_gradient", c.gradient_attributes(c.kernel, DType::float64), {x, g}).front();
    BOOST_TEST(dot(y, g) == dot(x, dx), to_string(c.x) << to_string(c.kernel));
    BOOST_TEST(dot(y, g) == dot(kernel, dk), to_string(c.x) << to_string(c.kernel));
  }
}

BOOST_AUTO_TEST_CASE(gradients_in_every_direction) {  // one adjoint identity could hide errors that cancel
  const Case& c = cases[4];
  const Tensor kernel = small_integers(c.kernel, DType::float64, 2);
  const Shape shape = kernel_request("conv2d", c.attributes(), {Tensor(c.x, DType::float64), kernel}).outputs[0].shape;
  const Tensor g = small_integers(shape, DType::float64, 3);
  const Tensor dx =
      run_reference("conv2d_input_gradient", c.gradient_attributes(c.x, DType::float64), {g, kernel}).front();
  const std::vector<double> elements = dx.to_doubles();
  bool same = true;
  for (std::int64_t i = 0; i < dx.size(); i += 7) {
    Tensor unit(c.x, DType::float64);
    unit.mutable_data<double>()[i] = 1;
    const Tensor y = run_reference("conv2d", c.attributes(), {unit, kernel}).front();
    same = same && dot(y, g) == elements[static_cast<std::size_t>(i)];
  }
  BOOST_TEST(same);
}

BOOST_AUTO_TEST_CASE(gradients_of_another_dtype) {
  const Case& c = cases[2];
  const Tensor x = random_tensor(c.x, DType::float64, 1), g = random_tensor({2, 5, 6, 4}, DType::float64, 2);
  const auto wide = run_reference("conv2d_kernel_gradient", c.gradient_attributes(c.kernel, DType::float64), {x, g});
  const auto narrow = run_reference("conv2d_kernel_gradient", c.gradient_attributes(c.kernel, DType::float32), {x, g});
  BOOST_TEST(narrow.front().equal(wide.front().cast(DType::float32)));
}

BOOST_AUTO_TEST_CASE(the_same_on_any_number_of_threads) {
  const Case& c = cases[8];
  const Tensor x = random_tensor(c.x, DType::float32, 1), g = random_tensor({3, 8, 8, 70}, DType::float32, 2);
  const Attributes attributes = c.gradient_attributes(c.kernel, DType::float32);
  BOOST_TEST(same_on_any_threads("reference", "conv2d_kernel_gradient", attributes, {x, g}));
}

BOOST_AUTO_TEST_SUITE_END()
