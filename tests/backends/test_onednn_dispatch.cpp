#include <boost/test/unit_test.hpp>

#include <thread>

#include <mezzo/backends/onednn/implementations.hpp>
#include <mezzo/core/isa.hpp>

#include "support/onednn.hpp"
#include "support/skip.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const Attributes plain_product{{"transpose_a", false}, {"transpose_b", false}};

KernelRequest product(const Shape& a, const Shape& b, DType dtype) {
  return kernel_request("matmul", plain_product, std::vector<Spec>{{a, dtype}, {b, dtype}});
}

/// A request of conv2d over square images.
KernelRequest convolution(std::int64_t batch, std::int64_t size, std::int64_t in, std::int64_t out, DType dtype) {
  return kernel_request(
      "conv2d",
      {{"strides", Shape{1, 1}}, {"padding", Shape(4, 0)}, {"dilation", Shape{1, 1}}, {"groups", std::int64_t{1}}},
      std::vector<Spec>{{{batch, size, size, in}, dtype}, {{3, 3, in, out}, dtype}});
}

std::string refusal(const KernelRequest& request) {
  std::string reason;
  return create_kernel("onednn", request, reason) ? "" : reason;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(onednn_dispatch)

BOOST_AUTO_TEST_CASE(declines_with_a_reason) {
  BOOST_TEST(refusal(product({4, 8}, {8, 4}, DType::float16)) == "takes float32 and bfloat16; got float16");
  BOOST_TEST(refusal(product({4, 8}, {8, 4}, DType::float64)) == "takes float32 and bfloat16; got float64");
  BOOST_TEST(refusal(product({0, 8}, {8, 4}, DType::float32)) == "takes operands with elements; got shape (0, 8)");
  BOOST_TEST(refusal(convolution(2, 8, 3, 4, DType::float64)) == "takes float32 and bfloat16; got float64");
  BOOST_TEST(refusal(convolution(0, 8, 3, 4, DType::float32)) ==
             "takes operands with elements; got shape (0, 8, 8, 3)");
  BOOST_TEST(refusal(product({4, 8}, {8, 4}, DType::float32)) == "");
}

BOOST_AUTO_TEST_CASE(gradients_of_kernels_with_few_channels_are_left_to_float32) {
  const auto gradient = [](std::int64_t in, std::int64_t size, std::int64_t groups, DType dtype) {
    const Attributes attributes{{"strides", Shape{1, 1}},
                                {"padding", Shape(4, 0)},
                                {"dilation", Shape{1, 1}},
                                {"groups", groups},
                                {"shape", Shape{size, size, in, 8}},
                                {"dtype", DType::float32}};
    const std::int64_t places = 13 - size;
    return kernel_request("conv2d_kernel_gradient", attributes,
                          std::vector<Spec>{{{2, 12, 12, in * groups}, dtype}, {{2, places, places, 8}, dtype}});
  };
  for (const auto& request : {gradient(3, 3, 1, DType::float32), gradient(1, 5, 8, DType::float32)}) {
    BOOST_TEST(refusal(request) == "");
  }
  if (!onednn_has_native_bfloat16() || onednn::has_amx_bfloat16()) return skip("needs bfloat16 without AMX");
  for (const auto& request : {gradient(3, 3, 1, DType::bfloat16), gradient(1, 5, 8, DType::bfloat16)}) {
    BOOST_TEST(refusal(request) ==
               "float32 is faster here: gradients of kernels with few channels are slow in bfloat16");
    BOOST_TEST(choose_kernel(request).implementation != "onednn");
  }
  for (const auto& request : {gradient(4, 3, 1, DType::bfloat16), gradient(1, 3, 8, DType::bfloat16)}) {
    BOOST_TEST(refusal(request) == "");
  }
}

BOOST_AUTO_TEST_CASE(takes_bfloat16_with_hardware_support) {
  const KernelRequest light = convolution(8, 28, 1, 32, DType::bfloat16);
  const KernelRequest heavy = convolution(8, 13, 32, 64, DType::bfloat16);
  if (!onednn_has_native_bfloat16()) {
    BOOST_TEST(!onednn_has_slow_bfloat16());
    BOOST_TEST(refusal(light) == "needs bfloat16 in hardware (AVX512_CORE_BF16); this CPU or its ISA limit has none");
    BOOST_TEST(refusal(product({4, 8}, {8, 4}, DType::bfloat16)) == refusal(light));
    // On any instruction set: kernels of our own multiply bfloat16 as float32, what they decline is widened.
    BOOST_TEST(choose_kernel(light).implementation == "few_taps");
    BOOST_TEST(choose_kernel(heavy).implementation == "xsimd");
    BOOST_TEST(choose_kernel(product({256, 256}, {256, 256}, DType::bfloat16)).implementation ==
               (isa() == Isa::avx2 ? "gemm" : "widen"));
    return;
  }
  BOOST_TEST(refusal(light) == "");
  if (!onednn_has_slow_bfloat16()) {
    BOOST_TEST(refusal(heavy) == "");
    return;
  }
  BOOST_TEST(refusal(heavy) == "float32 is faster here: this CPU multiplies bfloat16 at half the rate of float32");
  BOOST_TEST(choose_kernel(heavy).implementation == "xsimd");
  const detail::ChosenKernel chosen = choose_kernel(product({256, 256}, {256, 256}, DType::bfloat16));
  BOOST_TEST(chosen.implementation == "widen");
  BOOST_TEST(chosen.kernel->detail().find("float32 onednn") == 0U);
}

BOOST_AUTO_TEST_CASE(plain_loops_are_recognized_by_name) {
  for (const char* name : {"ref:any", "gemm:ref", "ref"}) BOOST_TEST(onednn::is_reference(name), name);
  for (const char* name : {"brgconv:avx512_core", "x64:gemm:jit", "jit_1x1:avx2", "gemm:jit:f32"}) {
    BOOST_TEST(!onednn::is_reference(name), name);
  }
}

BOOST_AUTO_TEST_CASE(creates_primitives_once) {
  const KernelRequest request = convolution(2, 9, 3, 8, DType::float32);
  const std::int64_t before = onednn_primitives_created();
  std::string reason;
  const auto kernel = create_kernel("onednn", request, reason);
  BOOST_REQUIRE(kernel);
  BOOST_TEST(!kernel->detail().empty());
  const std::int64_t after = onednn_primitives_created();
  BOOST_TEST(after > before);
  for (std::uint64_t seed = 1; seed < 4; ++seed) {  // other operands, other addresses
    const std::vector<Tensor> inputs{small_integers({2, 9, 9, 3}, DType::float32, seed),
                                     small_integers({3, 3, 3, 8}, DType::float32, seed + 10)};
    BOOST_TEST(run_kernel(*kernel, request, inputs)[0]
                   .cast(DType::float64)
                   .equal(exact_result("conv2d", request.attributes, inputs)));
  }
  BOOST_TEST(onednn_primitives_created() == after);
}

BOOST_AUTO_TEST_CASE(different_kernels_run_on_different_threads) {
  const auto work = [](std::uint64_t seed, bool& good) {
    const std::vector<Tensor> inputs{small_integers({64, 100}, DType::float32, seed),
                                     small_integers({100, 32}, DType::float32, seed + 1)};
    const KernelRequest request = kernel_request("matmul", plain_product, inputs);
    std::string reason;
    const auto kernel = create_kernel("onednn", request, reason);
    const Tensor exact = exact_result("matmul", plain_product, inputs);
    good = kernel != nullptr;
    for (int i = 0; good && i < 20; ++i) {
      good = run_kernel(*kernel, request, inputs)[0].cast(DType::float64).equal(exact);
    }
  };
  bool good[2] = {false, false};
  std::thread other(work, 1, std::ref(good[0]));
  work(5, good[1]);
  other.join();
  BOOST_TEST(good[0]);
  BOOST_TEST(good[1]);
}

BOOST_AUTO_TEST_SUITE_END()
