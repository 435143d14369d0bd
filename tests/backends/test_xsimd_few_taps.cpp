#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

#include "support/xsimd.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

struct Layer {
  Shape x, kernel;
  Shape strides = {1, 1}, padding = {0, 0, 0, 0};

  Shape y() const {
    return {x[0], (x[1] + padding[0] + padding[1] - kernel[0]) / strides[0] + 1,
            (x[2] + padding[2] + padding[3] - kernel[1]) / strides[1] + 1, kernel[3]};
  }
  Attributes geometry() const {
    return {{"strides", strides}, {"padding", padding}, {"dilation", Shape{1, 1}}, {"groups", std::int64_t{1}}};
  }
  Attributes of_kernel(DType dtype) const {
    Attributes attributes = geometry();
    attributes.set("shape", kernel);
    attributes.set("dtype", dtype);
    return attributes;
  }
  std::int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  std::int64_t pixels() const { return x[0] * y()[1] * y()[2]; }
};

// Filters below, at and above one and two registers; rows below and above a tile; padding and strides of all kinds.
const std::vector<Layer> layers{{{2, 28, 28, 1}, {3, 3, 1, 32}},
                                {{1, 9, 8, 1}, {3, 3, 1, 33}, {1, 1}, {1, 1, 1, 1}},
                                {{3, 7, 6, 3}, {2, 2, 3, 8}, {2, 2}, {0, 1, 0, 1}},
                                {{1, 3, 5, 2}, {1, 5, 2, 17}, {1, 1}, {0, 0, 2, 2}},
                                {{2, 12, 1, 1}, {12, 1, 1, 70}, {1, 1}, {5, 6, 0, 0}},
                                {{2, 5, 17, 1}, {2, 3, 1, 9}, {3, 2}, {2, 0, 4, 1}},
                                {{1, 2, 2, 1}, {2, 2, 1, 16}},
                                {{2, 6, 30, 4}, {1, 3, 4, 48}, {2, 3}}};

// Partial sums of numbers of about 1 grow as the root, and so does the sum of their roundings.
double tolerance(std::int64_t terms) { return 1e-6 + 1e-6 * std::sqrt(static_cast<double>(terms)); }

}  // namespace

BOOST_AUTO_TEST_SUITE(xsimd_few_taps)

BOOST_AUTO_TEST_CASE(convolution) {
  for (const DType dtype : xsimd_dtypes) {
    for (const Layer& l : layers) {
      const Tensor x = random_tensor(l.x, dtype, 1), kernel = random_tensor(l.kernel, dtype, 2);
      check_xsimd("conv2d", l.geometry(), {x, kernel}, tolerance(l.taps()));
      const Attributes fused = with_attribute(l.geometry(), "epilogue", detail::Epilogue::relu);
      for (const DType wide : {dtype, DType::float32}) {
        check_xsimd("conv2d", fused, {x, kernel, random_tensor({l.kernel[3]}, wide, 3)}, tolerance(l.taps()));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(kernel_gradient) {
  for (const DType dtype : xsimd_dtypes) {
    for (const Layer& l : layers) {
      for (const DType out : {dtype, DType::float32}) {
        check_xsimd("conv2d_kernel_gradient", l.of_kernel(out),
                    {random_tensor(l.x, dtype, 1), random_tensor(l.y(), dtype, 2)}, tolerance(l.pixels()));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(kernel_gradient_in_blocks_of_rows) {
  const Layer l{{9, 40, 40, 1}, {3, 3, 1, 32}, {1, 1}, {1, 1, 1, 1}};
  check_xsimd("conv2d_kernel_gradient", l.of_kernel(DType::float32),
              {random_tensor(l.x, DType::bfloat16, 1), random_tensor(l.y(), DType::bfloat16, 2)},
              tolerance(l.pixels()));
}

// NaN passes a fused ReLU; infinities and zeros give what the sums give.
BOOST_AUTO_TEST_CASE(non_finite_numbers) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  for (const float special : {nan, infinity, -infinity}) {
    const Layer& l = layers[1];
    Tensor x = random_tensor(l.x, DType::float32, 1);
    x.mutable_data<float>()[20] = special;
    check_xsimd("conv2d", with_attribute(l.geometry(), "epilogue", detail::Epilogue::relu),
                {x, random_tensor(l.kernel, DType::float32, 2)}, tolerance(l.taps()));
    check_xsimd("conv2d_kernel_gradient", l.of_kernel(DType::float32), {x, random_tensor(l.y(), DType::float32, 3)},
                tolerance(l.pixels()));
  }
}

BOOST_AUTO_TEST_CASE(other_convolutions_are_left) {
  const auto takes = [](const Shape& kernel, std::int64_t groups, const Shape& dilation) {
    const Shape x{2, 16, 16, kernel[2] * groups};
    Attributes attributes{{"strides", Shape{1, 1}}, {"padding", Shape{0, 0, 0, 0}}};
    attributes.set("dilation", dilation);
    attributes.set("groups", groups);
    const KernelRequest request = kernel_request(
        "conv2d", attributes, {random_tensor(x, DType::float32, 1), random_tensor(kernel, DType::float32, 2)});
    std::string reason;
    return create_kernel("few_taps", request, reason) != nullptr;
  };
  BOOST_TEST(takes({2, 2, 3, 8}, 1, {1, 1}));
  BOOST_TEST(!takes({2, 2, 3, 7}, 1, {1, 1}));
  BOOST_TEST(!takes({13, 1, 1, 8}, 1, {1, 1}));
  BOOST_TEST(!takes({1, 1, 8, 8}, 1, {1, 1}));
  BOOST_TEST(!takes({2, 2, 1, 8}, 2, {1, 1}));
  BOOST_TEST(!takes({2, 2, 3, 8}, 1, {2, 1}));
}

BOOST_AUTO_TEST_SUITE_END()
