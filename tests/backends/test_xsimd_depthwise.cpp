#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

#include "support/xsimd.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

struct Layer {
  Shape x;
  std::int64_t taps = 3, stride = 1;
  Shape padding = {1, 1, 1, 1};

  Shape kernel() const { return {taps, taps, 1, x[3]}; }
  Shape y() const {
    return {x[0], (x[1] + padding[0] + padding[1] - taps) / stride + 1,
            (x[2] + padding[2] + padding[3] - taps) / stride + 1, x[3]};
  }
  Attributes geometry() const {
    return {{"strides", Shape{stride, stride}}, {"padding", padding}, {"dilation", Shape{1, 1}}, {"groups", x[3]}};
  }
  Attributes gradient(const Shape& shape, DType dtype) const {
    Attributes attributes = geometry();
    attributes.set("shape", shape);
    attributes.set("dtype", dtype);
    return attributes;
  }
};

// Sizes below, at and above a tile and registers; images with odd sizes, without inner pixels, and with padding of all
// kinds.
const std::vector<Layer> layers{{{2, 7, 7, 16}},
                                {{1, 5, 9, 3}},
                                {{1, 1, 1, 2}},
                                {{2, 8, 15, 33}},
                                {{1, 3, 17, 70}, 3, 1, {0, 0, 0, 0}},
                                {{1, 6, 5, 5}, 3, 1, {3, 0, 0, 4}},
                                {{2, 14, 14, 24}, 3, 2, {0, 1, 0, 1}},
                                {{2, 9, 13, 17}, 3, 2, {1, 1, 1, 1}},
                                {{1, 8, 7, 4}, 3, 2, {0, 0, 0, 0}},
                                {{1, 2, 2, 3}, 3, 2, {1, 1, 1, 1}},
                                {{1, 7, 7, 40}, 5, 1, {2, 2, 2, 2}},
                                {{2, 6, 20, 9}, 5, 1, {0, 0, 0, 0}},
                                {{1, 11, 10, 16}, 5, 2, {1, 2, 1, 2}},
                                {{1, 9, 16, 35}, 5, 2, {2, 2, 2, 2}},
                                {{3, 28, 28, 32}, 3, 1},
                                {{3, 28, 28, 32}, 5, 2, {1, 2, 1, 2}}};

// Numbers of about 1: partial sums of `terms` of them grow as the root, and so does the sum of their roundings.
double tolerance(std::int64_t terms) { return 1e-6 + 1e-6 * std::sqrt(static_cast<double>(terms)); }

}  // namespace

BOOST_AUTO_TEST_SUITE(xsimd_depthwise)

BOOST_AUTO_TEST_CASE(convolution) {
  for (const DType dtype : xsimd_dtypes) {
    for (const Layer& l : layers) {
      const Tensor x = random_tensor(l.x, dtype, 1), kernel = random_tensor(l.kernel(), dtype, 2);
      check_xsimd("conv2d", l.geometry(), {x, kernel}, tolerance(l.taps * l.taps));
      const Attributes fused = with_attribute(l.geometry(), "epilogue", detail::Epilogue::relu);
      for (const DType wide : {dtype, DType::float32}) {
        check_xsimd("conv2d", fused, {x, kernel, random_tensor({l.x[3]}, wide, 3)}, tolerance(l.taps * l.taps));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(large_arrays) {
  for (const DType dtype : {DType::float32, DType::bfloat16}) {
    const Shape large{1, 515, 530, dtype == DType::float32 ? 16 : 32};
    const Layer plain{large}, strided{large, 3, 2};
    const Tensor kernel = random_tensor(plain.kernel(), dtype, 2);
    check_past_caches("conv2d", plain.geometry(), {random_tensor(large, dtype, 1), kernel});
    check_past_caches("conv2d_input_gradient", strided.gradient(large, dtype),
                      {random_tensor(strided.y(), dtype, 1), kernel});
  }
}

BOOST_AUTO_TEST_CASE(input_gradient) {
  for (const DType dtype : xsimd_dtypes) {
    for (const Layer& l : layers) {
      const Tensor g = random_tensor(l.y(), dtype, 1), kernel = random_tensor(l.kernel(), dtype, 2);
      check_xsimd("conv2d_input_gradient", l.gradient(l.x, dtype), {g, kernel}, tolerance(l.taps * l.taps));
    }
  }
}

BOOST_AUTO_TEST_CASE(kernel_gradient) {
  for (const DType dtype : xsimd_dtypes) {
    for (const Layer& l : layers) {
      const Tensor x = random_tensor(l.x, dtype, 1), g = random_tensor(l.y(), dtype, 2);
      const Shape y = l.y();
      for (const DType out : {dtype, DType::float32}) {
        check_xsimd("conv2d_kernel_gradient", l.gradient(l.kernel(), out), {x, g}, tolerance(y[0] * y[1] * y[2]));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(normalized_input) {
  for (const Layer& l : layers) {
    const Tensor x = random_tensor(l.x, DType::float32, 1), kernel = random_tensor(l.kernel(), DType::float32, 2),
                 g = random_tensor(l.y(), DType::float32, 3);
    const Shape y = l.y();
    // Numbers of up to 6, so that tolerances are those of 36 times the terms.
    check_xsimd("normalized_conv2d", with_attribute(l.geometry(), "max_value", 6.0), with_norm({x, kernel}),
                tolerance(36 * l.taps * l.taps));
    check_xsimd("normalized_conv2d_kernel_gradient",
                with_attribute(l.gradient(l.kernel(), DType::float32), "max_value", 6.0), with_norm({x, g}),
                tolerance(36 * y[0] * y[1] * y[2]));
  }
}

BOOST_AUTO_TEST_CASE(many_rows_in_several_blocks) {
  const Layer l{{4, 40, 41, 64}};
  const Tensor x = random_tensor(l.x, DType::float32, 1), g = random_tensor(l.y(), DType::float32, 2);
  check_xsimd("conv2d_kernel_gradient", l.gradient(l.kernel(), DType::float32), {x, g},
              tolerance(element_count({4, 40, 41})));
}

BOOST_AUTO_TEST_CASE(only_outputs_under_the_kernel_see_nan_and_infinities) {
  const Layer l{{1, 9, 10, 17}};
  for (const DType dtype : xsimd_dtypes) {
    for (const float number : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      Tensor wide = random_tensor(l.x, DType::float32, 1);
      const std::int64_t row = 4, column = 6, channel = 16;
      wide.mutable_data<float>()[(row * 10 + column) * 17 + channel] = number;
      for_each_isa([&](Isa isa) {
        const std::vector<Tensor> operands{wide.cast(dtype), random_tensor(l.kernel(), dtype, 2, 0.5, 1)};
        const KernelRequest request = kernel_request("conv2d", l.geometry(), operands);
        std::string reason;
        const auto kernel = xsimd_kernel(request, isa, reason);
        BOOST_TEST_REQUIRE(kernel != nullptr, reason);
        const std::vector<double> y = run_kernel(*kernel, request, operands)[0].to_doubles();
        for (std::size_t i = 0; i < y.size(); ++i) {
          const auto c = static_cast<std::int64_t>(i) % 17, place = static_cast<std::int64_t>(i) / 17;
          const bool under = c == channel && std::abs(place / 10 - row) <= 1 && std::abs(place % 10 - column) <= 1;
          BOOST_TEST(std::isfinite(y[i]) == !under);
        }
      });
    }
  }
}

BOOST_AUTO_TEST_CASE(other_convolutions_are_declined) {
  const auto declined = [](const Attributes& attributes, const Shape& kernel) {
    std::string reason;
    const Tensor x({1, 8, 8, 4});
    BOOST_TEST(!create_kernel("depthwise", kernel_request("conv2d", attributes, {x, Tensor(kernel)}), reason));
    return reason;
  };
  const Attributes plain = Layer{{1, 8, 8, 4}}.geometry();
  const std::string start =
      "depthwise takes one filter a channel, 3 x 3 or 5 x 5 kernels, equal strides of 1 or 2 and no dilation; got ";
  BOOST_TEST(declined(plain, {3, 3, 1, 8}) ==
             start + "4 channels, 4 groups, 8 filters, 3 x 3 kernels, strides (1, 1), dilation (1, 1)");
  BOOST_TEST(declined(plain, {3, 5, 1, 4}) ==
             start + "4 channels, 4 groups, 4 filters, 3 x 5 kernels, strides (1, 1), dilation (1, 1)");
  BOOST_TEST(declined(with_attribute(plain, "strides", Shape{1, 2}), {3, 3, 1, 4}) ==
             start + "4 channels, 4 groups, 4 filters, 3 x 3 kernels, strides (1, 2), dilation (1, 1)");
  BOOST_TEST(declined(with_attribute(plain, "dilation", Shape{2, 2}), {3, 3, 1, 4}) ==
             start + "4 channels, 4 groups, 4 filters, 3 x 3 kernels, strides (1, 1), dilation (2, 2)");
}

BOOST_AUTO_TEST_SUITE_END()
