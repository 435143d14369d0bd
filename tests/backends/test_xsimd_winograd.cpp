#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include <mezzo/core/cpu.hpp>

#include "support/environment.hpp"
#include "support/relative_error.hpp"
#include "support/xsimd.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

struct Case {
  Shape x;
  std::int64_t filters;
  Shape padding;

  Shape kernel() const { return {3, 3, x[3], filters}; }
  Shape y() const { return {x[0], x[1] + padding[0] + padding[1] - 2, x[2] + padding[2] + padding[3] - 2, filters}; }
  Attributes attributes() const {
    return {{"strides", Shape{1, 1}}, {"padding", padding}, {"dilation", Shape{1, 1}}, {"groups", std::int64_t{1}}};
  }
  Attributes of_gradient(const Shape& shape, DType dtype) const {
    Attributes out = attributes();
    out.set("shape", shape);
    out.set("dtype", dtype);
    return out;
  }
};

// Whole and partial tiles, channels that fill registers and panels and channels that don't, every padding, several
// chunks.
const Case cases[] = {{{32, 4, 4, 16}, 16, {1, 1, 1, 1}},  {{3, 13, 15, 20}, 33, {0, 0, 0, 0}},
                      {{2, 17, 19, 33}, 17, {1, 1, 1, 1}}, {{2, 16, 14, 16}, 64, {2, 1, 0, 2}},
                      {{9, 23, 18, 48}, 16, {0, 2, 2, 1}}, {{12, 7, 7, 150}, 130, {1, 1, 1, 1}},
                      {{4, 13, 13, 32}, 64, {0, 0, 0, 0}}};

/// Tolerance of sums of n products of numbers in [-1, 1]: the worst rounding error of sequential sums grows with n, and
/// the transforms multiply it.
double tolerance_of(std::int64_t n) { return 6 * 0x1p-23 * static_cast<double>(n); }

/// The detail of the kernel that comes before oneDNN for float32 operands, or the reason why it declines, without the
/// part that gives the speed.
std::string first_choice(const std::string& op, const Attributes& attributes, const std::vector<Tensor>& operands) {
  std::string reason;
  const auto kernel = create_kernel("winograd", kernel_request(op, attributes, operands), reason);
  return kernel ? kernel->detail() : reason.substr(0, reason.find("; got"));
}

/// Random images of which only a block of 5 x 4 pixels isn't 0, and not in all channels.
Tensor on_zero_background(const Shape& shape, DType dtype, std::uint64_t seed) {
  std::vector<double> numbers = random_tensor(shape, dtype, seed).to_doubles();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const std::int64_t column = at / shape[3] % shape[2], row = at / (shape[3] * shape[2]) % shape[1];
    if (row < 2 || row > 6 || column < 3 || column > 6 || at % 3 == 0) numbers[i] = 0;
  }
  return Tensor(shape, numbers).cast(dtype);
}

/// Number of elements that are 0 in `expected` and not in `got`.
std::int64_t false_numbers(const Tensor& got, const Tensor& expected) {
  const std::vector<double> a = got.to_doubles(), b = expected.to_doubles();
  std::int64_t count = 0;
  for (std::size_t i = 0; i < b.size(); ++i) count += b[i] == 0 && a[i] != 0 ? 1 : 0;
  return count;
}

std::int64_t zeros_in(const Tensor& x) {
  const std::vector<double> numbers = x.to_doubles();
  return std::count(numbers.begin(), numbers.end(), 0.0);
}

/// Per op the algorithm, or the reason against it.
std::vector<std::string> choices(const Case& c, DType dtype) {
  const Tensor x(c.x, dtype), kernel(c.kernel(), dtype), y(c.y(), dtype);
  return {first_choice("conv2d", c.attributes(), {x, kernel}),
          first_choice("conv2d_input_gradient", c.of_gradient(c.x, dtype), {y, kernel}),
          first_choice("conv2d_kernel_gradient", c.of_gradient(c.kernel(), dtype), {x, y})};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(xsimd_winograd)

BOOST_AUTO_TEST_CASE(convolution) {
  for (const Case& c : cases) {
    for (const DType dtype : xsimd_dtypes) {
      const std::vector<Tensor> operands{random_tensor(c.x, dtype, 1), random_tensor(c.kernel(), dtype, 2)};
      check_xsimd("conv2d", c.attributes(), operands, tolerance_of(9 * c.x[3]));
    }
  }
}

BOOST_AUTO_TEST_CASE(bias_and_relu) {
  for (const Case& c : cases) {
    const std::vector<Tensor> operands{random_tensor(c.x, DType::bfloat16, 1),
                                       random_tensor(c.kernel(), DType::bfloat16, 2), random_tensor({c.filters})};
    Attributes attributes = c.attributes();
    check_xsimd("conv2d", attributes, operands, tolerance_of(9 * c.x[3]));
    attributes.set("epilogue", detail::Epilogue::relu);
    check_xsimd("conv2d", attributes, operands, tolerance_of(9 * c.x[3]));
  }
}

BOOST_AUTO_TEST_CASE(input_gradient) {
  for (const Case& c : cases) {
    for (const DType dtype : xsimd_dtypes) {
      const std::vector<Tensor> operands{random_tensor(c.y(), dtype, 1), random_tensor(c.kernel(), dtype, 2)};
      for (const DType out : std::set<DType>{dtype, DType::float32}) {
        check_xsimd("conv2d_input_gradient", c.of_gradient(c.x, out), operands, tolerance_of(9 * c.filters));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(kernel_gradient) {
  for (const Case& c : cases) {
    const Shape y = c.y();
    for (const DType dtype : xsimd_dtypes) {
      const std::vector<Tensor> operands{random_tensor(c.x, dtype, 1), random_tensor(y, dtype, 2)};
      for (const DType out : std::set<DType>{dtype, DType::float32}) {
        check_xsimd("conv2d_kernel_gradient", c.of_gradient(c.kernel(), out), operands,
                    tolerance_of(y[0] * y[1] * y[2]));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(normalized_images) {
  for (const Case& c : cases) {
    const Tensor x = random_tensor(c.x, DType::float32, 1), y = random_tensor(c.y(), DType::float32, 2);
    const double largest = 8;  // of the normalized numbers
    check_xsimd("normalized_conv2d", c.attributes(), with_norm({x, random_tensor(c.kernel(), DType::float32, 2)}),
                largest * tolerance_of(9 * c.x[3]));
    check_xsimd("normalized_conv2d_kernel_gradient", c.of_gradient(c.kernel(), DType::float32), with_norm({x, y}),
                largest * tolerance_of(y.size() / c.filters));
  }
}

// A sequential float32 sum of n products of numbers in [-1, 1] has an error of about 0.2 x 2^-23 sqrt(n). The error of
// these kernels is 0.12 to 0.48 x 2^-23 sqrt(n). With the points 0, 1, -1, 2 and -2 it would be twice as large.
BOOST_AUTO_TEST_CASE(float32_rounds_little_more_than_sums_do) {
  for (const Case& c : cases) {
    const Tensor x = random_tensor(c.x, DType::float32, 1), kernel = random_tensor(c.kernel(), DType::float32, 2);
    const Tensor y = random_tensor(c.y(), DType::float32, 3);
    const auto check = [&c](const std::string& op, const std::function<Attributes(DType)>& attributes,
                            const std::vector<Tensor>& operands, std::int64_t terms) {
      std::vector<Tensor> doubles;
      for (const Tensor& operand : operands) doubles.push_back(operand.cast(DType::float64));
      const Tensor exact = run_reference(op, attributes(DType::float64), doubles)[0];
      const KernelRequest request = kernel_request(op, attributes(DType::float32), operands);
      for_each_isa([&](Isa isa) {
        std::string reason;
        const auto kernel_of_isa = xsimd_kernel(request, isa, reason);
        BOOST_TEST_REQUIRE(kernel_of_isa != nullptr, reason);
        const double rounding = 0x1p-23 * std::sqrt(static_cast<double>(terms));
        const double off = relative_error(run_kernel(*kernel_of_isa, request, operands)[0], exact);
        BOOST_TEST_MESSAGE(op << " " << c.x[3] << " to " << c.filters << ": " << off << ", " << off / rounding);
        BOOST_TEST(off < 0.6 * rounding, op << " " << off / rounding);
      });
    };
    check(
        "conv2d", [&](DType) { return c.attributes(); }, {x, kernel}, 9 * c.x[3]);
    check(
        "conv2d_input_gradient", [&](DType dtype) { return c.of_gradient(c.x, dtype); }, {y, kernel}, 9 * c.filters);
    check(
        "conv2d_kernel_gradient", [&](DType dtype) { return c.of_gradient(c.kernel(), dtype); }, {x, y},
        y.shape()[0] * y.shape()[1] * y.shape()[2]);
  }
}

// Background pixels far from the block, near it in one tile, and in the tiles at the border.
BOOST_AUTO_TEST_CASE(sums_of_zeros_are_zero) {
  for (const Case& c : {cases[1], cases[2], cases[4]}) {
    for (const DType dtype : xsimd_dtypes) {
      const Tensor x = on_zero_background(c.x, dtype, 1), y = on_zero_background(c.y(), dtype, 2);
      const Tensor kernel = random_tensor(c.kernel(), dtype, 3);
      const auto check = [&](const std::string& op, const std::function<Attributes(DType)>& attributes,
                             const std::vector<Tensor>& operands, std::int64_t fewest) {
        std::vector<Tensor> doubles;
        for (const Tensor& operand : operands) doubles.push_back(operand.cast(DType::float64));
        const Tensor exact = run_reference(op, attributes(DType::float64), doubles)[0];
        BOOST_TEST(zeros_in(exact) >= fewest, op);
        const KernelRequest request = kernel_request(op, attributes(dtype), operands);
        for_each_isa([&](Isa isa) {
          std::string reason;
          const auto kernel_of_isa = xsimd_kernel(request, isa, reason);
          BOOST_TEST_REQUIRE(kernel_of_isa != nullptr, reason);
          BOOST_TEST(false_numbers(run_kernel(*kernel_of_isa, request, operands)[0], exact) == 0, op);
        });
      };
      check(
          "conv2d", [&](DType) { return c.attributes(); }, {x, kernel}, element_count(c.y()) / 3);
      check(
          "conv2d_input_gradient", [&](DType t) { return c.of_gradient(c.x, t); }, {y, kernel}, element_count(c.x) / 3);
      check(
          "conv2d_kernel_gradient", [&](DType t) { return c.of_gradient(c.kernel(), t); }, {x, y}, 0);
    }
  }
}

// One pixel of each side: the products of a single tap.
BOOST_AUTO_TEST_CASE(taps_without_products_have_no_gradient) {
  const Case& c = cases[0];
  for (const DType dtype : xsimd_dtypes) {
    Tensor x(c.x), y(c.y());
    const auto pixel = [](Tensor& images, std::int64_t row, std::int64_t column) {
      const Shape& shape = images.shape();
      for (std::int64_t i = 0; i < shape[3]; ++i) {
        images.mutable_data<float>()[((5 * shape[1] + row) * shape[2] + column) * shape[3] + i] =
            0.1F * static_cast<float>(i + 1);
      }
    };
    pixel(x, 1, 2);
    pixel(y, 2, 2);  // with padding 1, x (1, 2) meets y (2, 2) at tap (0, 1)
    const std::vector<Tensor> operands{x.cast(dtype), y.cast(dtype)};
    const KernelRequest request = kernel_request("conv2d_kernel_gradient", c.of_gradient(c.kernel(), dtype), operands);
    for_each_isa([&](Isa isa) {
      std::string reason;
      const auto kernel = xsimd_kernel(request, isa, reason);
      BOOST_TEST_REQUIRE(kernel != nullptr, reason);
      const Tensor gradient = run_kernel(*kernel, request, operands)[0];
      const std::int64_t tap = gradient.size() / 9;
      BOOST_TEST(zeros_in(gradient) == 8 * tap);
      BOOST_TEST(gradient.to_doubles()[static_cast<std::size_t>(tap)] > 0);
    });
  }
}

BOOST_AUTO_TEST_CASE(a_bias_of_any_dtype) {
  const Case& c = cases[0];
  for (const DType bias : xsimd_dtypes) {
    const std::vector<Tensor> operands{random_tensor(c.x, DType::float32, 1), random_tensor(c.kernel()),
                                       random_tensor({c.filters}, bias)};
    std::string reason;
    const KernelRequest request = kernel_request("conv2d", c.attributes(), operands);
    const auto kernel = xsimd_kernel(request, isa(), reason);
    BOOST_TEST_REQUIRE(kernel != nullptr, reason);
    const std::vector<Tensor> wide{operands[0], operands[1], operands[2].cast(DType::float32)};
    const KernelRequest of_wide = kernel_request("conv2d", c.attributes(), wide);
    BOOST_TEST(run_kernel(*kernel, request, operands)[0].equal(
        run_kernel(*xsimd_kernel(of_wide, isa(), reason), of_wide, wide)[0]));
  }
}

BOOST_AUTO_TEST_CASE(float32_uses_winograd_if_it_saves_time) {
  const auto of = choices;
  using Each = std::vector<std::string>;
  const std::string faster = "F(4x4,3x3)", slower = "takes convolutions with an estimated speed of 1.1 times oneDNN's";
  BOOST_TEST(of({{8, 28, 28, 64}, 64, {1, 1, 1, 1}}, DType::float32) == Each({faster, faster, faster}));
  BOOST_TEST(of({{128, 16, 16, 32}, 64, {1, 1, 1, 1}}, DType::float32).front() == faster);  // fewer, in many tiles
  BOOST_TEST(of({{2, 16, 16, 16}, 16, {1, 1, 1, 1}}, DType::float32) == Each({slower, slower, slower}));
  BOOST_TEST(of({{8, 7, 7, 512}, 512, {1, 1, 1, 1}}, DType::float32) == Each({slower, slower, faster}));
  BOOST_TEST(of({{1, 28, 28, 64}, 64, {1, 1, 1, 1}}, DType::float32) == Each({faster, faster, faster}));
  const Environment off("MEZZO_FLOAT32_WINOGRAD", "0");
  const std::string unwanted = "turned off by MEZZO_FLOAT32_WINOGRAD=0";
  BOOST_TEST(of({{8, 28, 28, 64}, 64, {1, 1, 1, 1}}, DType::float32) == Each({unwanted, unwanted, unwanted}));
}

BOOST_AUTO_TEST_CASE(halves_use_winograd_if_their_products_are_fast) {
  const Environment off("MEZZO_FLOAT32_WINOGRAD", "0");  // has no effect on halves
  const std::string faster = "F(4x4,3x3)", slower = "takes convolutions with an estimated speed of 1.1 times oneDNN's",
                    others = "takes float32, and bfloat16 if the CPU multiplies it at twice the rate";
  using Each = std::vector<std::string>;
  const Case large{{32, 28, 28, 128}, 128, {1, 1, 1, 1}}, small{{8, 7, 7, 256}, 256, {1, 1, 1, 1}};
  BOOST_TEST(choices(large, DType::float16) == Each({others, others, others}));
  if (isa() >= Isa::avx512_bf16 && !has_slow_bfloat16() && !has_amx()) {
    BOOST_TEST(choices(large, DType::bfloat16) == Each({faster, faster, faster}));
    BOOST_TEST(choices(small, DType::bfloat16) == Each({slower, slower, slower}));
  } else {
    BOOST_TEST(choices(large, DType::bfloat16) == Each({others, others, others}));
  }
}

BOOST_AUTO_TEST_CASE(nan_stays_nan) {
  const Case& c = cases[0];
  Tensor x(c.x, DType::bfloat16);
  x.mutable_data<bfloat16>()[0] = bfloat16(std::nanf(""));
  const std::vector<Tensor> operands{x, random_tensor(c.kernel(), DType::bfloat16)};
  Attributes attributes = c.attributes();
  attributes.set("epilogue", detail::Epilogue::relu);
  const KernelRequest request = kernel_request("conv2d", attributes, operands);
  for_each_isa([&](Isa isa) {
    std::string reason;
    const auto kernel = xsimd_kernel(request, isa, reason);
    BOOST_TEST_REQUIRE(kernel != nullptr, reason);
    BOOST_TEST(std::isnan(run_kernel(*kernel, request, operands)[0].to_doubles()[0]));
  });
}

BOOST_AUTO_TEST_CASE(declines) {
  const auto reason_of = [](const Case& c, DType dtype, const char* name, const detail::Attribute& value) {
    Attributes attributes = c.attributes();
    attributes.set(name, value);
    std::string reason;
    const KernelRequest request = kernel_request("conv2d", attributes, {Tensor(c.x, dtype), Tensor(c.kernel(), dtype)});
    BOOST_TEST(xsimd_kernel(request, isa(), reason) == nullptr);
    return reason;
  };
  const Case good = cases[0];
  const std::int64_t one = 1;
  const std::string shape =
      "winograd takes 3 x 3 kernels with strides and dilation 1, one group and padding up to 2; got 3 x 3, ";
  BOOST_TEST(reason_of(good, DType::bfloat16, "strides", Shape{2, 2}) ==
             shape + "strides (2, 2), dilation (1, 1), 1 groups, padding (1, 1, 1, 1)");
  BOOST_TEST(reason_of(good, DType::bfloat16, "padding", Shape{3, 0, 0, 0}) ==
             shape + "strides (1, 1), dilation (1, 1), 1 groups, padding (3, 0, 0, 0)");
  BOOST_TEST(reason_of(good, DType::float64, "groups", one) == "takes float32, bfloat16 and float16; got float64");
  const std::string sizes =
      "winograd takes at least 16 channels and filters, 32 tiles of 4 x 4 and 8 pixels in use per tile; got ";
  BOOST_TEST(reason_of({{32, 4, 4, 8}, 16, {1, 1, 1, 1}}, DType::bfloat16, "groups", one) ==
             sizes + "8 channels, 16 filters, 32 tiles, 512 pixels");
  BOOST_TEST(reason_of({{31, 4, 4, 16}, 16, {1, 1, 1, 1}}, DType::bfloat16, "groups", one) ==
             sizes + "16 channels, 16 filters, 31 tiles, 496 pixels");
  BOOST_TEST(reason_of({{32, 2, 2, 16}, 16, {1, 1, 1, 1}}, DType::bfloat16, "groups", one) ==
             sizes + "16 channels, 16 filters, 32 tiles, 128 pixels");
}

BOOST_AUTO_TEST_SUITE_END()
