#include <boost/test/unit_test.hpp>

#include <mezzo/backends/onednn/implementations.hpp>
#include <mezzo/compiler/packed_constants.hpp>

#include "support/kernels.hpp"
#include "support/skip.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Attributes geometry(std::int64_t groups, std::int64_t dilation) {
  return {{"strides", Shape{1, 1}},
          {"padding", Shape{1, 1, 1, 1}},
          {"dilation", Shape{dilation, dilation}},
          {"groups", groups}};
}

// oneDNN's kernel of the request, with input 1 as a constant.
std::unique_ptr<Kernel> with_constant(KernelRequest request, const Tensor& numbers) {
  request.constants = {{1, numbers}};
  std::string reason;
  auto kernel = create_kernel("onednn", request, reason);
  BOOST_TEST_REQUIRE(kernel != nullptr, reason);
  return kernel;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(onednn_constants)

BOOST_AUTO_TEST_CASE(kernels_of_convolutions_are_reordered_when_the_kernel_is_made) {
  for (const std::int64_t groups : {1, 2}) {
    const std::vector<Tensor> inputs{random_tensor({2, 9, 8, 32}),
                                     random_tensor({3, 3, 32 / groups, 64}, DType::float32, 2)};
    const KernelRequest request = kernel_request("conv2d", geometry(groups, 2), inputs);
    const std::size_t before = detail::packed_constant_count();
    {
      const auto packed = with_constant(request, inputs[1]), again = with_constant(request, inputs[1]);
      const bool reorders = packed->detail().find("packed input 1") != std::string::npos;
      BOOST_TEST(detail::packed_constant_count() == before + (reorders ? 1 : 0));
      BOOST_TEST(packed->detail().find("reorders input 1") == std::string::npos);
      const Tensor expected = run_kernel("onednn", "conv2d", geometry(groups, 2), inputs).outputs.at(0);
      std::vector<Tensor> later = inputs;
      if (reorders) later[1] = Tensor(inputs[1].shape());  // not read
      BOOST_TEST(run_kernel(*packed, request, later)[0].equal(expected));
      BOOST_TEST(run_kernel(*again, request, later)[0].equal(expected));
    }
    BOOST_TEST(detail::packed_constant_count() == before);
  }
}

BOOST_AUTO_TEST_CASE(matrices_too) {
  for (const bool transposed : {false, true}) {
    const std::vector<Tensor> inputs{random_tensor({20, 48}),
                                     random_tensor(transposed ? Shape{64, 48} : Shape{48, 64}, DType::float32, 2)};
    const Attributes attributes{{"transpose_a", false}, {"transpose_b", transposed}};
    const KernelRequest request = kernel_request("matmul", attributes, inputs);
    const Tensor expected = run_reference("matmul", attributes, inputs)[0];
    BOOST_TEST(largest_difference(run_kernel(*with_constant(request, inputs[1]), request, inputs)[0], expected) < 1e-5);
  }
}

BOOST_AUTO_TEST_SUITE_END()
