#include "support/xsimd.hpp"

#include <cmath>
#include <limits>

#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/packed/packed.hpp>

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// A convolution with strides; its kernel is not constant.
struct Strided {
  Shape x, kernel, strides, padding;

  Attributes attributes() const {
    return {{"strides", strides}, {"padding", padding}, {"dilation", Shape{1, 1}}, {"groups", std::int64_t{1}}};
  }
  Attributes gradient_attributes() const {
    return with_attribute(with_attribute(attributes(), "shape", x), "dtype", DType::float32);
  }
  Shape out() const {
    const auto size = [&](std::size_t axis) {
      return (x[axis + 1] + padding[2 * axis] + padding[2 * axis + 1] - kernel[axis]) / strides[axis] + 1;
    };
    return {x[0], size(0), size(1), kernel[3]};
  }
  // Four standard deviations of the rounding error of float32 sums of products of numbers in [-1, 1]: after k products
  // a sum is about sqrt(k) / 3, and each step rounds it by 2^-25 of that.
  static double tolerance(std::int64_t terms) { return 1e-6 + 3e-8 * static_cast<double>(terms); }
  std::int64_t taps() const { return kernel[0] * kernel[1]; }
};

const std::vector<Strided> cases{
    {{3, 33, 34, 64}, {3, 3, 64, 64}, {2, 2}, {1, 1, 1, 1}},  // as in ResNet
    {{2, 14, 15, 70}, {3, 3, 70, 65}, {2, 2}, {0, 1, 1, 0}},  // parts of panels, padding at one side
    {{1, 12, 13, 64}, {2, 2, 64, 70}, {2, 2}, {0, 0, 0, 0}},  // taps that no two windows share
    {{2, 11, 17, 64}, {1, 2, 64, 64}, {3, 3}, {0, 0, 0, 0}},  // pixels that no window has
    {{1, 9, 20, 65}, {5, 3, 65, 64}, {1, 3}, {4, 3, 2, 2}},   // padding of nearly a kernel
    {{1, 10, 7, 64}, {3, 1, 64, 80}, {4, 2}, {5, 6, 0, 3}},   // windows that lie in the padding
    {{1, 1, 3, 64}, {1, 3, 64, 64}, {2, 2}, {0, 0, 0, 0}},    // one window
    {{2, 3, 2, 64}, {7, 5, 64, 64}, {4, 5}, {3, 3, 2, 2}}};   // more phases than pixels

std::string reason_of(const KernelRequest& request) {
  std::string reason;
  for (const auto& entry : xsimd_kernels::packed_entries()) {
    if (request.op->name == entry.op) BOOST_TEST(!entry.make(request, isa(), reason));
  }
  return reason;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(xsimd_strides)

BOOST_AUTO_TEST_CASE(convolutions_with_kernels_that_are_not_constant) {
  for (const Strided& c : cases) {
    const std::vector<Tensor> inputs{random_tensor(c.x, DType::float32, 1), random_tensor(c.kernel, DType::float32, 2)};
    check_xsimd("conv2d", c.attributes(), inputs, Strided::tolerance(c.taps() * c.kernel[2]));
  }
}

BOOST_AUTO_TEST_CASE(bias_and_relu) {
  const Strided& c = cases[1];
  const std::vector<Tensor> inputs{random_tensor(c.x, DType::float32, 1), random_tensor(c.kernel, DType::float32, 2),
                                   random_tensor({c.kernel[3]}, DType::float32, 3)};
  for (const auto epilogue : {detail::Epilogue::none, detail::Epilogue::relu}) {
    check_xsimd("conv2d", with_attribute(c.attributes(), "epilogue", epilogue), inputs,
                Strided::tolerance(c.taps() * c.kernel[2]));
  }
}

BOOST_AUTO_TEST_CASE(input_gradients) {
  for (const Strided& c : cases) {
    const std::vector<Tensor> inputs{random_tensor(c.out(), DType::float32, 1),
                                     random_tensor(c.kernel, DType::float32, 2)};
    check_xsimd("conv2d_input_gradient", c.gradient_attributes(), inputs, Strided::tolerance(c.taps() * c.kernel[3]));
  }
}

BOOST_AUTO_TEST_CASE(nan_and_infinity_reach_their_windows_only) {
  const Strided& c = cases[0];
  std::vector<Tensor> inputs{random_tensor(c.out(), DType::float32, 1), random_tensor(c.kernel, DType::float32, 2)};
  inputs[0].mutable_data<float>()[100] = std::nanf("");
  inputs[0].mutable_data<float>()[7000] = std::numeric_limits<float>::infinity();
  const KernelRequest request = kernel_request("conv2d_input_gradient", c.gradient_attributes(), inputs);
  const Tensor expected = run_reference("conv2d_input_gradient", c.gradient_attributes(), inputs)[0];
  for_each_isa([&](Isa isa) {
    std::string reason;
    const auto kernel = xsimd_kernel(request, isa, reason);
    BOOST_TEST_REQUIRE(kernel != nullptr, reason);
    const Tensor result = run_kernel(*kernel, request, inputs)[0];
    std::int64_t different = 0;
    for (std::int64_t i = 0; i < result.size(); ++i) {
      different += std::isfinite(result.data<float>()[i]) != std::isfinite(expected.data<float>()[i]);
    }
    BOOST_TEST(different == 0);
  });
}

BOOST_AUTO_TEST_CASE(other_convolutions_are_declined) {
  const auto request_of = [](const Strided& c, DType dtype = DType::float32, std::int64_t groups = 1) {
    return kernel_request("conv2d", with_attribute(c.attributes(), "groups", groups),
                          std::vector<Spec>{{c.x, dtype}, {c.kernel, dtype}});
  };
  const std::string other_shape = "takes kernels of several pixels and 64 channels and filters; got ";
  BOOST_TEST(reason_of(request_of({{1, 9, 9, 64}, {3, 3, 64, 64}, {1, 1}, {0, 0, 0, 0}})) == "");
  BOOST_TEST(reason_of(request_of({{1, 9, 9, 63}, {3, 3, 63, 64}, {2, 2}, {0, 0, 0, 0}})) ==
             other_shape + "(3, 3, 63, 64)");
  BOOST_TEST(reason_of(request_of({{1, 9, 9, 64}, {1, 1, 64, 64}, {2, 2}, {0, 0, 0, 0}})) ==
             other_shape + "(1, 1, 64, 64)");
  BOOST_TEST(reason_of(request_of(cases[0], DType::bfloat16)) ==
             "takes float32 with kernels that are not constant; got bfloat16");
  BOOST_TEST(reason_of(request_of({{1, 9, 9, 128}, {3, 3, 64, 64}, {2, 2}, {0, 0, 0, 0}}, DType::float32, 2)) ==
             "takes convolutions without groups and dilation");
  KernelRequest gradient =
      kernel_request("conv2d_input_gradient", cases[0].gradient_attributes(),
                     std::vector<Spec>{{cases[0].out(), DType::float32}, {cases[0].kernel, DType::float32}});
  gradient.constants = {{1, Tensor(cases[0].kernel)}};
  BOOST_TEST(reason_of(gradient) == "leaves constant kernels to oneDNN, which packs them once");
  gradient.constants.clear();
  gradient.attributes.set("dilation", Shape{2, 1});
  BOOST_TEST(reason_of(gradient) == "takes convolutions without groups and dilation");
  // oneDNN's kernels for AVX-512 are as fast.
  BOOST_TEST((chosen_implementation(request_of(cases[0])) == "packed") == (isa() == Isa::avx2));
}

BOOST_AUTO_TEST_SUITE_END()
