#include <boost/test/unit_test.hpp>

#include <cmath>

#include <mezzo/compiler/product_rates.hpp>

#include "support/xsimd.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Attributes geometry() {
  return {
      {"strides", Shape{1, 1}}, {"padding", Shape{0, 0, 0, 0}}, {"dilation", Shape{1, 1}}, {"groups", std::int64_t{1}}};
}

Attributes input_gradient(const Shape& x) {
  return with_attribute(with_attribute(geometry(), "shape", x), "dtype", DType::float32);
}

// Four standard deviations of the rounding error of a float32 sum of products of numbers in [-1, 1].
double tolerance(std::int64_t terms) { return 1e-6 + 3e-8 * static_cast<double>(terms); }

Shape with_channels(Shape images, std::int64_t channels) {
  images.push_back(channels);
  return images;
}

void check(const Shape& images, std::int64_t channels, std::int64_t filters) {
  const Shape x = with_channels(images, channels), g = with_channels(images, filters);
  const Tensor kernel = random_tensor({1, 1, channels, filters}, DType::float32, 2);
  check_xsimd("conv2d", geometry(), {random_tensor(x, DType::float32, 1), kernel}, tolerance(channels));
  check_xsimd("normalized_conv2d", geometry(), with_norm({random_tensor(x, DType::float32, 1), kernel}),
              8 * tolerance(channels));  // numbers of up to 8
  check_xsimd("conv2d_input_gradient", input_gradient(x), {random_tensor(g, DType::float32, 1), kernel},
              tolerance(filters));
}

// Compares the kernel for operands of 16 bits with that of float32, whose sums have the same order: all bits are equal
// once they are rounded to `out`.
void check_half(const std::string& op, Attributes attributes, const std::vector<Tensor>& operands, DType out) {
  if (op != "conv2d") attributes.set("dtype", out);
  std::vector<Tensor> wide;
  for (const Tensor& operand : operands) wide.push_back(operand.cast(DType::float32));
  const KernelRequest request = kernel_request(op, attributes, operands);
  if (op != "conv2d") attributes.set("dtype", DType::float32);
  const KernelRequest of_floats = kernel_request(op, attributes, wide);
  BOOST_TEST_REQUIRE((request.outputs[0].dtype == out));
  for_each_isa([&](Isa isa) {
    std::string reason;
    const auto kernel = xsimd_kernel(request, isa, reason), plain = xsimd_kernel(of_floats, isa, reason);
    BOOST_TEST_REQUIRE((kernel != nullptr && plain != nullptr), reason);
    const Tensor expected = run_kernel(*plain, of_floats, wide)[0].cast(out);
    const int threads = thread_count();
    for (const int some : {threads, 1, 3}) {
      set_thread_count(some);
      BOOST_TEST(run_kernel(*kernel, request, operands)[0].equal(expected), op << " on " << some << " threads");
    }
    set_thread_count(threads);
    BOOST_TEST(same_unaligned(*kernel, operands, {expected}));
  });
}

void check_half(DType dtype, const Shape& images, std::int64_t channels, std::int64_t filters) {
  const Shape x = with_channels(images, channels), g = with_channels(images, filters);
  const Tensor kernel = random_tensor({1, 1, channels, filters}, dtype, 2);
  check_half("conv2d", geometry(), {random_tensor(x, dtype, 1), kernel}, dtype);
  for (const DType out : {dtype, DType::float32}) {
    check_half("conv2d_input_gradient", input_gradient(x), {random_tensor(g, dtype, 1), kernel}, out);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(xsimd_pointwise)

BOOST_AUTO_TEST_CASE(both_directions) {
  check({1, 16, 32}, 8, 8);      // less than a register of AVX-512
  check({2, 19, 14}, 17, 33);    // parts of blocks, panels and registers
  check({1, 513, 1}, 12, 70);    // a last panel of one register
  check({3, 30, 31}, 24, 40);    // several chunks of rows, shared by threads
  check({1, 23, 23}, 16, 16);    // panels of one register
  check({1, 23, 23}, 1030, 48);  // sums in pieces
}

BOOST_AUTO_TEST_CASE(operands_of_16_bits_are_multiplied_as_float32) {
  for (const DType dtype : {DType::bfloat16, DType::float16}) {
    check_half(dtype, {2, 19, 14}, 17, 33);    // parts of blocks, panels and registers
    check_half(dtype, {3, 30, 31}, 24, 40);    // several chunks of rows, shared by threads
    check_half(dtype, {1, 23, 23}, 1030, 48);  // sums in pieces, in memory of the threads
    check_half(dtype, {1, 23, 23}, 48, 1030);
  }
}

BOOST_AUTO_TEST_CASE(joined_with_the_gradient_of_a_norm) {
  const auto check_joined = [](const Shape& images, std::int64_t channels, std::int64_t filters, bool training) {
    const Shape x = with_channels(images, channels), y = with_channels(images, filters);
    const Attributes attributes{
        {"training", training}, {"epilogue", detail::Epilogue::relu}, {"shift", true}, {"max_value", 6.0}};
    std::vector<Tensor> operands =
        with_norm({random_tensor(y, DType::float32, 1), random_tensor(y, DType::float32, 2)});
    operands.push_back(random_tensor(x, DType::float32, 3));
    operands.push_back(random_tensor({1, 1, channels, filters}, DType::float32, 4));
    // The norm's gradient has numbers of up to 4; sums over the pixels are the longest.
    check_xsimd("pointwise_norm_gradient", attributes, operands,
                8 * tolerance(std::max(filters, images[0] * images[1] * images[2])));
  };
  check_joined({1, 16, 32}, 8, 8, true);
  check_joined({2, 19, 14}, 17, 33, true);   // parts of blocks, panels and registers
  check_joined({1, 513, 1}, 70, 12, false);  // chunks of rows
  check_joined({5, 41, 41}, 16, 24, true);   // sums in blocks of rows
}

BOOST_AUTO_TEST_CASE(large_arrays) {
  const Shape x{1, 300, 320, 16}, g{1, 300, 320, 48};
  const Tensor kernel = random_tensor({1, 1, 16, 48}, DType::float32, 2);
  const Tensor turned = random_tensor({1, 1, 48, 16}, DType::float32, 3);
  check_past_caches("conv2d", geometry(), {random_tensor(x, DType::float32, 1), kernel});
  check_past_caches("conv2d_input_gradient", input_gradient(g), {random_tensor(x, DType::float32, 1), turned});
  check_past_caches("conv2d_input_gradient", input_gradient(g),
                    {random_tensor(x, DType::bfloat16, 1), turned.cast(DType::bfloat16)});
}

BOOST_AUTO_TEST_CASE(only_the_pixel_sees_nan) {
  Tensor x = random_tensor({1, 23, 23, 17}, DType::float32, 1);
  const std::int64_t pixel = 500;
  x.mutable_data<float>()[pixel * 17 + 16] = std::nanf("");
  for (const DType dtype : {DType::float32, DType::bfloat16, DType::float16}) {
    const std::vector<Tensor> operands{x.cast(dtype), random_tensor({1, 1, 17, 33}, dtype, 2)};
    const KernelRequest request = kernel_request("conv2d", geometry(), operands);
    for_each_isa([&](Isa isa) {
      std::string reason;
      const auto kernel = xsimd_kernel(request, isa, reason);
      BOOST_TEST_REQUIRE(kernel != nullptr, reason);
      const std::vector<double> y = run_kernel(*kernel, request, operands)[0].to_doubles();
      for (std::size_t i = 0; i < y.size(); ++i) BOOST_TEST(std::isnan(y[i]) == (i / 33 == pixel));
    });
  }
}

BOOST_AUTO_TEST_CASE(products_of_16_bits_are_left_to_cpus_that_have_them) {
  if (isa() < Isa::avx2) return skip("needs AVX2");
  for (const DType dtype : {DType::bfloat16, DType::float16}) {
    const bool fast = dtype == DType::bfloat16 ? has_fast_bfloat16() : dtype_support(dtype) == Support::native;
    const std::vector<Tensor> operands{Tensor({2, 16, 16, 8}, dtype), Tensor({1, 1, 8, 8}, dtype)};
    std::string reason;
    const auto kernel = create_kernel("pointwise", kernel_request("conv2d", geometry(), operands), reason);
    BOOST_TEST((kernel == nullptr) == fast);
    BOOST_TEST(reason == (fast ? fmt::format("leaves {} to products of 16 bits", dtype) : ""));
  }
}

BOOST_AUTO_TEST_CASE(other_convolutions_are_declined) {
  if (isa() < Isa::avx2) return skip("needs AVX2");
  const auto reason_of = [](const Attributes& attributes, const std::vector<Tensor>& operands) {
    std::string reason;
    BOOST_TEST(!create_kernel("pointwise", kernel_request("conv2d", attributes, operands), reason));
    return reason;
  };
  const Tensor x({2, 16, 16, 8}), kernel({1, 1, 8, 8});
  BOOST_TEST(reason_of(geometry(), {x.cast(DType::float64), kernel.cast(DType::float64)}) ==
             "takes float32, bfloat16 and float16; got float64");
  const std::string other = "takes 1 x 1 kernels without strides, padding or groups";
  BOOST_TEST(reason_of(geometry(), {x, Tensor({1, 3, 8, 8})}) == other);
  BOOST_TEST(reason_of(with_attribute(geometry(), "strides", Shape{2, 2}), {x, kernel}) == other);
  BOOST_TEST(reason_of(with_attribute(geometry(), "padding", Shape{1, 0, 0, 0}), {x, kernel}) == other);
  BOOST_TEST(reason_of(with_attribute(geometry(), "groups", std::int64_t{2}), {x, Tensor({1, 1, 4, 8})}) == other);
  BOOST_TEST(reason_of(geometry(), {Tensor({1, 16, 16, 8}), kernel}) ==
             "takes at least 512 pixels and 8 channels and filters; got 256 pixels, 8 channels, 8 filters");
  BOOST_TEST(reason_of(geometry(), {x, kernel, Tensor({8})}) == "takes no bias and no epilogue");
  const auto reason_of_joined = [](const Shape& images, std::int64_t filters) {
    std::string reason;
    const Tensor y(with_channels(images, filters)), of_channels({filters});
    const KernelRequest request =
        kernel_request("pointwise_norm_gradient", {{"training", true}, {"shift", true}},
                       std::vector<Tensor>{y, y, of_channels, of_channels, of_channels, of_channels,
                                           Tensor(with_channels(images, 32)), Tensor({1, 1, 32, filters})});
    BOOST_TEST(!create_kernel("pointwise", request, reason));
    return reason;
  };
  BOOST_TEST(reason_of_joined({2, 16, 16}, 32) == "is not faster for arrays that stay in the caches");
  const std::int64_t side = std::int64_t{128} * thread_count();
  BOOST_TEST(reason_of_joined({1, 128, side}, 513) ==
             fmt::format("takes at least 512 pixels and 8 channels and filters, and kernels of at most 16384 numbers; "
                         "got {} pixels, 32 channels, 513 filters",
                         128 * side));
}

BOOST_AUTO_TEST_SUITE_END()
