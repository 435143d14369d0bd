#include "support/xsimd.hpp"

#include <limits>

using namespace mezzo;
using namespace mezzo_tests;

namespace {

struct CodesConvolution {
  Shape x, kernel;
  Shape strides{1, 1}, padding{0, 0, 0, 0}, dilation{1, 1};
  std::string activations = "dynamic";
  DType dtype = DType::float32;
  bool finished = false;  // with a bias, a residual and a relu with an upper limit
};

Attributes attributes_of(const CodesConvolution& c) {
  Attributes attributes{{"strides", c.strides},
                        {"padding", c.padding},
                        {"dilation", c.dilation},
                        {"groups", c.x[3] / c.kernel[2]},
                        {"activations", c.activations}};
  if (!c.finished) return attributes;
  attributes.set("bias", true);
  attributes.set("residual", true);
  attributes.set("epilogue", detail::Epilogue::relu);
  attributes.set("max_value", 3.0);
  return attributes;
}

std::vector<Tensor> operands_of(const CodesConvolution& c) {
  std::vector<Tensor> all{random_tensor(c.x, c.dtype, 1), random_tensor(c.kernel, DType::int8, 2, -127, 128),
                          random_tensor({c.kernel[3]}, DType::float32, 3, 50, 100)};
  if (c.activations == "static") all.push_back(Tensor::scalar(150, DType::float32));
  if (!c.finished) return all;
  all.push_back(random_tensor({c.kernel[3]}, DType::float32, 4));
  Attributes plain = attributes_of(c);
  CodesConvolution unfinished = c;
  unfinished.finished = false;
  const std::vector<Tensor> bare(all.begin(), all.end() - 1);
  const KernelRequest request = kernel_request("quantized_conv2d", attributes_of(unfinished), bare);
  all.push_back(random_tensor(request.outputs[0].shape, c.dtype, 5));
  return all;
}

// Compares with the reference. Sums are exact, so that only scales are rounded in another order.
void check_convolution(const CodesConvolution& c, const std::vector<Tensor>& inputs) {
  const Attributes attributes = attributes_of(c);
  const KernelRequest request = kernel_request("quantized_conv2d", attributes, inputs);
  const auto expected = widened_reference("quantized_conv2d", attributes, inputs, request.outputs);
  BOOST_TEST_CONTEXT(fmt::format("{} by {}, {}", c.x, c.kernel, attributes.to_string())) {
    for_each_int8_isa([&](Isa isa) { check_xsimd_on(isa, request, inputs, expected, 2e-6); });
  }
}

void check_convolution(const CodesConvolution& c) { check_convolution(c, operands_of(c)); }

const std::vector<CodesConvolution> convolutions{
    {{2, 5, 6, 16}, {3, 3, 16, 33}, {1, 1}, {1, 1, 1, 1}},
    {{1, 7, 9, 3}, {3, 2, 3, 5}, {2, 1}, {0, 1, 1, 0}},
    {{3, 8, 8, 20}, {5, 3, 20, 16}, {2, 2}, {2, 2, 0, 1}},
    {{1, 9, 8, 6}, {3, 2, 6, 17}, {1, 1}, {2, 1, 0, 2}, {2, 3}},
    {{2, 7, 7, 65}, {1, 1, 65, 64}},
    {{2, 8, 9, 12}, {1, 1, 12, 7}, {2, 2}},
    {{1, 4, 5, 8}, {1, 1, 8, 8}, {1, 1}, {1, 0, 0, 1}},
    {{1, 1, 1, 1}, {1, 1, 1, 1}},
    {{9, 14, 13, 24}, {3, 3, 24, 40}, {1, 1}, {1, 1, 1, 1}},  // shared by threads
};

}  // namespace

BOOST_AUTO_TEST_SUITE(xsimd_code_windows)

BOOST_AUTO_TEST_CASE(convolutions_of_codes) {
  for (CodesConvolution c : convolutions) {
    for (const DType dtype : {DType::float32, DType::bfloat16}) {
      for (const char* activations : {"dynamic", "static"}) {
        for (const bool finished : {false, true}) {
          c.dtype = dtype, c.activations = activations, c.finished = finished;
          check_convolution(c);
        }
      }
    }
  }
}

// Largest codes of one sign give the largest sums.
BOOST_AUTO_TEST_CASE(largest_sums_are_exact) {
  CodesConvolution c{{1, 4, 4, 1024}, {3, 3, 1024, 2}};
  std::vector<Tensor> inputs = operands_of(c);
  for (const int sign : {1, -1}) {
    std::fill_n(inputs[0].mutable_data<float>(), inputs[0].size(), 1.0F);
    std::fill_n(inputs[1].mutable_data<std::int8_t>(), inputs[1].size(), static_cast<std::int8_t>(127 * sign));
    check_convolution(c, inputs);
  }
}

BOOST_AUTO_TEST_CASE(images_with_nan_or_infinity_are_nan) {
  for (const char* activations : {"dynamic", "static"}) {
    for (const bool finished : {false, true}) {
      const CodesConvolution c{{5, 3, 4, 8}, {2, 2, 8, 4}, {1, 1},         {1, 0, 0, 1},
                               {1, 1},       activations,  DType::float32, finished};
      std::vector<Tensor> inputs = operands_of(c);
      auto* const x = inputs[0].mutable_data<float>();
      constexpr std::int64_t image = std::int64_t{3} * 4 * 8;
      x[image - 1] = std::numeric_limits<float>::quiet_NaN();
      x[image] = std::numeric_limits<float>::infinity();
      x[2 * image + 5] = -std::numeric_limits<float>::infinity();
      for (std::int64_t i = 0; i < image; ++i) x[3 * image + i] = 0;
      x[4 * image + 1] = 1e30F;  // clipped by a static scale
      check_convolution(c, inputs);
    }
  }
}

BOOST_AUTO_TEST_CASE(constants_are_packed_once) {
  if (!has_int8_products()) return skip("needs AVX512_VNNI");
  const CodesConvolution c{{2, 5, 6, 18}, {3, 3, 18, 33}};
  const std::vector<Tensor> inputs = operands_of(c);
  check_packed_once(kernel_request("quantized_conv2d", attributes_of(c), inputs), inputs, {1, 2});
}

BOOST_AUTO_TEST_CASE(other_convolutions_are_declined) {
  const auto reason_of = [](const CodesConvolution& c) {
    std::string reason;
    const KernelRequest request = kernel_request("quantized_conv2d", attributes_of(c), operands_of(c));
    BOOST_TEST(create_kernel("codes", request, reason) == nullptr);
    return reason;
  };
  const Shape x{1, 4, 4, 4}, kernel{3, 3, 4, 4};
  BOOST_TEST(reason_of({.x = x, .kernel = kernel, .dtype = DType::float64}) ==
             "takes float32 and bfloat16; got float64");
  BOOST_TEST(reason_of({.x = {0, 4, 4, 4}, .kernel = kernel}) ==
             "takes operands with elements; got shape (0, 4, 4, 4)");
  if (!has_int8_products()) return;
  BOOST_TEST(reason_of({.x = x, .kernel = {3, 3, 2, 4}}) == "takes convolutions without groups");
  BOOST_TEST(reason_of({.x = {1, 3, 3, 8192}, .kernel = {3, 3, 8192, 1}}) ==
             "takes sums of at most 65536 terms; got 73728");
}

BOOST_AUTO_TEST_SUITE_END()
