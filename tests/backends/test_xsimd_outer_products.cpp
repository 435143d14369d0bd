#include <boost/test/unit_test.hpp>

#include <algorithm>
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
  const auto unless_bfloat16_is_fast = [](const Shape& declined, const Shape& strides) {
    return fmt::format(
        "takes kernels with strides, of 1 x 1 those with at least 256 channels, unless bfloat16 is fast; got {}, "
        "strides "
        "{} and float32",
        declined, strides);
  };
  BOOST_TEST(reason_of(x, {3, 1, 8, 8}, attributes_of({3, 1, 8, 8}, DType::float32)) ==
             unless_bfloat16_is_fast({3, 1, 8, 8}, {1, 1}));
  BOOST_TEST(reason_of(x, kernel, with_attribute(attributes_of(kernel, DType::float32), "strides", Shape{2, 2})) ==
             unless_bfloat16_is_fast(kernel, {2, 2}));
  BOOST_TEST(reason_of(x, kernel, with_attribute(attributes_of(kernel, DType::float32), "strides", Shape{1, 2})) ==
             "takes one group, dilation 1 and equal strides; got 1 groups, dilation (1, 1), strides (1, 2)");
  BOOST_TEST(reason_of({1, 16, 16, 8}, kernel, attributes_of(kernel, DType::float32)) ==
             "takes at least 512 pixels and 8 channels and filters; got 256 pixels, 8 channels, 8 filters");
}

struct Windows {
  Shape x, kernel;
  std::int64_t stride;
  Shape padding;

  Attributes attributes(DType out) const {
    return with_attribute(with_attribute(attributes_of(kernel, out), "strides", Shape{stride, stride}), "padding",
                          padding);
  }
  /// x and a cotangent.
  std::vector<Tensor> operands(DType dtype) const {
    const auto out_of = [&](std::size_t axis) {
      return (x[axis] + padding[2 * axis - 2] + padding[2 * axis - 1] - kernel[axis - 1]) / stride + 1;
    };
    return {random_tensor(x, dtype, 1), random_tensor({x[0], out_of(1), out_of(2), kernel[3]}, dtype, 2)};
  }
};

const std::vector<Windows> with_strides{
    {{2, 57, 41, 16}, {3, 3, 16, 80}, 2, {0, 1, 1, 0}},    // chunks of rows
    {{13, 13, 13, 40}, {3, 3, 40, 70}, 2, {1, 1, 1, 1}},   // chunks of images, parts of blocks and panels
    {{1, 90, 90, 3}, {7, 7, 3, 64}, 2, {3, 2, 3, 2}},      // few channels, sums in the output
    {{6, 40, 40, 3}, {4, 4, 3, 33}, 4, {0, 0, 0, 0}},      // windows side by side
    {{6, 80, 78, 3}, {3, 3, 3, 33}, 2, {1, 1, 1, 1}},      // parts of the images
    {{3, 30, 31, 256}, {1, 1, 256, 33}, 2, {0, 0, 0, 0}},  // rows and columns of x without a window
    {{600, 3, 1, 16}, {3, 1, 16, 16}, 8, {3, 3, 3, 3}},    // windows that lie in the padding
    {{9, 24, 24, 16}, {5, 2, 16, 64}, 3, {2, 2, 0, 1}}};   // a kernel that isn't square
const std::vector<Windows> without_strides{{{4, 16, 16, 32}, {3, 3, 32, 64}, 1, {1, 1, 1, 1}},  // chunks of images
                                           {{11, 7, 7, 40}, {3, 3, 40, 70}, 1, {1, 1, 1, 1}},   // odd widths
                                           {{2, 20, 20, 64}, {3, 3, 64, 64}, 1, {0, 0, 0, 0}}};

// At most two threads, since kernels that more can't share are declined.
struct FewThreads {
  int before = thread_count();
  FewThreads() { set_thread_count(std::min(before, 2)); }
  ~FewThreads() { set_thread_count(before); }
};

// True if kernels that are made for one thread and for more compute the same bits.
bool same_if_made_for_one_thread(const Windows& windows, DType dtype) {
  const std::vector<Tensor> inputs = windows.operands(dtype);
  const auto run = [&] {
    return run_kernel("outer", "conv2d_kernel_gradient", windows.attributes(dtype), inputs).outputs.at(0);
  };
  const Tensor result = run();
  const int threads = thread_count();
  set_thread_count(1);
  const Tensor alone = run();
  set_thread_count(threads);
  return alone.equal(result);
}

BOOST_AUTO_TEST_CASE(kernel_gradient_of_windows) {
  const FewThreads few;
  for (const Windows& windows : with_strides) {
    for (const DType dtype : xsimd_dtypes) {
      const std::vector<Tensor> operands = windows.operands(dtype);
      for (const DType out : {dtype, DType::float32}) {
        check_xsimd("conv2d_kernel_gradient", windows.attributes(out), operands,
                    tolerance(operands[1].size() / windows.kernel[3]));
      }
    }
    BOOST_TEST(same_if_made_for_one_thread(windows, DType::float32));
  }
}

BOOST_AUTO_TEST_CASE(kernel_gradient_of_windows_in_pairs) {
  if (!multiplies_pairs()) return skip("needs a CPU that multiplies bfloat16 faster than float32");
  const FewThreads few;
  for (const std::vector<Windows>* const all : {&with_strides, &without_strides}) {
    for (const Windows& windows : *all) {
      const std::vector<Tensor> inputs = windows.operands(DType::bfloat16);
      for (const DType out : {DType::float32, DType::bfloat16}) {
        const Attributes attributes = windows.attributes(out);
        const KernelRun run = run_kernel("outer", "conv2d_kernel_gradient", attributes, inputs);
        BOOST_TEST_REQUIRE(run.declined == "");
        BOOST_TEST(run.detail == "bfloat16 products");
        const Spec spec{windows.kernel, out};
        const Tensor expected = widened_reference("conv2d_kernel_gradient", attributes, inputs, {spec})[0];
        const double difference = largest_difference(run.outputs[0], expected);
        const std::int64_t rows = inputs[1].size() / windows.kernel[3];
        BOOST_TEST(difference <= (out == DType::float32 ? 1e-6 + 1e-6 * std::sqrt(static_cast<double>(rows)) : 0x1p-7),
                   fmt::format("{} by {}: {}", windows.x, windows.kernel, difference));
      }
      BOOST_TEST(same_if_made_for_one_thread(windows, DType::bfloat16));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
