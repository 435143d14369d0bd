#include <boost/test/unit_test.hpp>

#include <cmath>

#include <mezzo/core/cpu.hpp>

#include "ops/recurrent_kernel_gradient.hpp"
#include "support/xsimd.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Attributes attributes_of(const Shape& kernel, DType out) {
  return {{"strides", Shape{1, 1}},  {"padding", Shape{0, 0, 0, 0}},
          {"dilation", Shape{1, 1}}, {"groups", std::int64_t{1}},
          {"shape", kernel},         {"dtype", out}};
}

/// Four standard deviations of the rounding error of a float32 sum of products of numbers in [-1, 1]: after k products
/// it is about sqrt(k) / 3, and is rounded by 2^-25 of that.
double tolerance(std::int64_t rows) { return 1e-6 + 3e-8 * static_cast<double>(rows); }

void check(const Shape& images, std::int64_t channels, std::int64_t filters) {
  Shape x = images, g = images;
  x.push_back(channels);
  g.push_back(filters);
  const std::int64_t rows = images[0] * images[1] * images[2];
  for (const DType dtype : xsimd_dtypes) {
    for (const DType out : {dtype, DType::float32}) {
      check_xsimd("conv2d_kernel_gradient", attributes_of({1, 1, channels, filters}, out),
                  {random_tensor(x, dtype, 1), random_tensor(g, dtype, 2)}, tolerance(rows));
    }
  }
}

void check_normalized(const Shape& images, std::int64_t channels, std::int64_t filters) {
  Shape x = images, g = images;
  x.push_back(channels);
  g.push_back(filters);
  check_xsimd("normalized_conv2d_kernel_gradient", attributes_of({1, 1, channels, filters}, DType::float32),
              with_norm({random_tensor(x, DType::float32, 1), random_tensor(g, DType::float32, 2)}),
              8 * tolerance(images[0] * images[1] * images[2]));  // numbers of up to 8
}

void check_matmul(std::int64_t rows, std::int64_t columns, std::int64_t others) {
  for (const DType dtype : xsimd_dtypes) {
    for (const DType out : {dtype, DType::float32}) {
      check_xsimd("matmul", {{"transpose_a", true}, {"transpose_b", false}, {"dtype", out}},
                  {random_tensor({rows, columns}, dtype, 1), random_tensor({rows, others}, dtype, 2)}, tolerance(rows));
    }
  }
}

bool multiplies_pairs() { return isa() >= Isa::avx512_bf16 && !has_slow_bfloat16() && !has_amx(); }

}  // namespace

BOOST_AUTO_TEST_SUITE(xsimd_outer_products)

BOOST_AUTO_TEST_CASE(kernel_gradient) {
  check({1, 16, 32}, 8, 8);
  check({2, 19, 14}, 17, 33);
  check({1, 513, 1}, 12, 70);
  check({3, 30, 31}, 24, 40);
}

BOOST_AUTO_TEST_CASE(kernel_gradient_in_blocks_of_rows) { check({5, 41, 41}, 16, 21); }

BOOST_AUTO_TEST_CASE(kernel_gradient_in_groups_of_columns) { check({2, 16, 17}, 301, 260); }

BOOST_AUTO_TEST_CASE(kernel_gradient_of_normalized_input) {
  check_normalized({1, 16, 32}, 8, 8);
  check_normalized({2, 19, 14}, 17, 33);
  check_normalized({5, 41, 41}, 16, 21);
  check_normalized({2, 16, 17}, 301, 260);  // a part of the columns of x
}

BOOST_AUTO_TEST_CASE(kernel_gradient_of_dense_layers) {
  check_matmul(512, 8, 8);
  check_matmul(521, 70, 12);    // an odd number of rows
  check_matmul(8200, 33, 100);  // in blocks of rows
  check_matmul(3001, 33, 100);  // in pieces of rows
  check_matmul(1030, 40, 513);  // in groups of columns of the second matrix
  check_matmul(1030, 513, 40);  // and of the first
}

BOOST_AUTO_TEST_CASE(kernel_gradient_of_recurrent_layers) {
  const RecurrentKernelCase cases[] = {
      {.batch = 1, .steps = 1, .units = 1, .width = 1},
      {.batch = 3, .steps = 7, .units = 13, .width = 33, .features = 25},
      {.batch = 67, .steps = 31, .units = 24, .width = 64, .features = 12},   // sums in the outputs
      {.batch = 410, .steps = 21, .units = 17, .width = 70, .features = 30},  // in blocks of rows
      {.batch = 37, .steps = 40, .units = 300, .width = 32},                  // in groups of columns of the states
      {.batch = 2, .steps = 1500, .units = 16, .width = 96, .features = 16}};
  for (RecurrentKernelCase c : cases) {
    for (const bool initial : {false, true}) {
      c.initial = initial;
      std::vector<Tensor> operands;
      for (const Argument& argument : c.arguments()) operands.push_back(argument.numbers.cast(DType::float32));
      check_xsimd("recurrent_kernel_gradient", with_attribute(c.attributes(), "dtype", DType::float32), operands,
                  tolerance(c.batch * c.steps));
    }
  }
}

BOOST_AUTO_TEST_CASE(recurrent_layers_that_are_declined) {
  const auto reason_of = [](const RecurrentKernelCase& c, DType dtype, DType out) {
    std::vector<Tensor> operands;
    for (const Argument& argument : c.arguments()) operands.push_back(argument.numbers.cast(dtype));
    std::string reason;
    BOOST_TEST(!create_kernel(
        "outer", kernel_request("recurrent_kernel_gradient", with_attribute(c.attributes(), "dtype", out), operands),
        reason));
    return reason;
  };
  BOOST_TEST(reason_of({.batch = 0}, DType::float32, DType::float32) ==
             "takes operands with elements; got shape (0, 3, 4)");
  BOOST_TEST(reason_of({}, DType::float64, DType::float32) == "takes operands of float32; got float64");
  BOOST_TEST(reason_of({}, DType::float32, DType::float64) == "takes float32, bfloat16 and float16; got float64");
  BOOST_TEST(reason_of({.features = 3}, DType::float32, DType::bfloat16) ==
             "gives two results in float32; got bfloat16");
}

BOOST_AUTO_TEST_CASE(other_products_are_declined) {
  const auto request_of = [](const Shape& x, const Shape& g, bool transpose_a) {
    return kernel_request("matmul", {{"transpose_a", transpose_a}, {"transpose_b", false}, {"dtype", DType::float32}},
                          {Tensor(x), Tensor(g)});
  };
  std::string reason;
  BOOST_TEST(!xsimd_kernel(request_of({512, 8}, {8, 16}, false), isa(), reason));
  BOOST_TEST(!xsimd_kernel(request_of({511, 8}, {511, 16}, true), isa(), reason));
  BOOST_TEST(!xsimd_kernel(request_of({512, 7}, {512, 16}, true), isa(), reason));
  BOOST_TEST(xsimd_kernel(request_of({512, 8}, {512, 16}, true), isa(), reason) != nullptr, reason);
  BOOST_TEST(!create_kernel("outer", request_of({4095, 128}, {4095, 512}, true), reason));
  BOOST_TEST(reason == "declined without a reason");  // explain() doesn't show that oneDNN gets other products
  BOOST_TEST(create_kernel("outer", request_of({4096, 128}, {4096, 512}, true), reason) != nullptr, reason);
}

BOOST_AUTO_TEST_CASE(other_gradients_are_declined) {
  const auto reason_of = [](const Shape& x, const Shape& kernel, const Attributes& attributes) {
    std::string reason;
    const Shape& strides = attributes.get<Shape>("strides");
    const Shape g{x[0], (x[1] - kernel[0]) / strides[0] + 1, (x[2] - kernel[1]) / strides[1] + 1, kernel[3]};
    const KernelRequest request = kernel_request("conv2d_kernel_gradient", attributes, {Tensor(x), Tensor(g)});
    BOOST_TEST(!create_kernel("outer", request, reason));
    return reason;
  };
  const Shape x{2, 16, 16, 8}, kernel{1, 1, 8, 8};
  const std::string only_bfloat16 =
      "takes bfloat16 where its products are fast, or 1 x 1 kernels without strides and padding; got float32 and "
      "float32";
  BOOST_TEST(reason_of(x, {3, 1, 8, 8}, attributes_of({3, 1, 8, 8}, DType::float32)) == only_bfloat16);
  BOOST_TEST(reason_of(x, kernel, with_attribute(attributes_of(kernel, DType::float32), "strides", Shape{2, 2})) ==
             only_bfloat16);
  BOOST_TEST(reason_of(x, kernel, with_attribute(attributes_of(kernel, DType::float32), "strides", Shape{1, 2})) ==
             "takes one group, dilation 1 and equal strides; got 1 groups, dilation (1, 1), strides (1, 2)");
  BOOST_TEST(reason_of({1, 16, 16, 8}, kernel, attributes_of(kernel, DType::float32)) ==
             "takes at least 512 pixels and 8 channels and filters; got 256 pixels, 8 channels, 8 filters");
}

BOOST_AUTO_TEST_CASE(kernel_gradient_of_windows) {
  if (!multiplies_pairs()) return skip("needs a CPU that multiplies bfloat16 faster than float32");
  struct Windows {
    Shape x, kernel;
    std::int64_t stride;
    Shape padding;
  };
  const std::vector<Windows> all{
      {{4, 16, 16, 32}, {3, 3, 32, 64}, 1, {1, 1, 1, 1}},  // chunks of several images, sums in the output
      {{11, 7, 7, 40}, {3, 3, 40, 70}, 1, {1, 1, 1, 1}},   // odd widths, parts of blocks and panels
      {{2, 57, 41, 16}, {3, 3, 16, 80}, 2, {0, 1, 1, 0}},  // strides, chunks of rows
      {{1, 90, 90, 3}, {7, 7, 3, 64}, 2, {3, 2, 3, 2}},    // few channels
      {{3, 30, 31, 24}, {1, 1, 24, 33}, 2, {0, 0, 0, 0}},  // rows and columns of x without a window
      {{9, 24, 24, 16}, {5, 2, 16, 64}, 3, {2, 2, 0, 1}},  // a kernel that isn't square
      {{2, 20, 20, 64}, {3, 3, 64, 64}, 1, {0, 0, 0, 0}}};
  for (const Windows& w : all) {
    const auto out_of = [&](std::size_t axis) {
      return (w.x[axis] + w.padding[2 * axis - 2] + w.padding[2 * axis - 1] - w.kernel[axis - 1]) / w.stride + 1;
    };
    const Shape g{w.x[0], out_of(1), out_of(2), w.kernel[3]};
    const double rows = static_cast<double>(g[0] * g[1] * g[2]);
    const std::vector<Tensor> inputs{random_tensor(w.x, DType::bfloat16, 1), random_tensor(g, DType::bfloat16, 2)};
    for (const DType out : {DType::float32, DType::bfloat16}) {
      const Attributes attributes = with_attribute(
          with_attribute(attributes_of(w.kernel, out), "strides", Shape{w.stride, w.stride}), "padding", w.padding);
      std::string reason;
      const KernelRequest request = kernel_request("conv2d_kernel_gradient", attributes, inputs);
      const auto kernel = create_kernel("outer", request, reason);
      BOOST_TEST_REQUIRE(kernel != nullptr, reason);
      BOOST_TEST(kernel->detail() == "bfloat16 products");
      const Tensor result = run_kernel(*kernel, request, inputs)[0];
      const Tensor expected = widened_reference("conv2d_kernel_gradient", attributes, inputs, request.outputs)[0];
      const double difference = largest_difference(result, expected);
      BOOST_TEST(difference <= (out == DType::float32 ? 1e-6 + 1e-6 * std::sqrt(rows) : 0x1p-7),
                 fmt::format("{} by {}: {}", w.x, w.kernel, difference));
      BOOST_TEST(same_unaligned(*kernel, inputs, {result}));
      const int threads = thread_count();
      set_thread_count(1);
      const auto alone = create_kernel("outer", request, reason);
      BOOST_TEST(run_kernel(*alone, request, inputs)[0].equal(result));
      set_thread_count(threads);
      BOOST_TEST(run_kernel(*alone, request, inputs)[0].equal(result));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
