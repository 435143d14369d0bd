// Gradients of kernels by tiles of 8-bit codes.
#include "support/xsimd.hpp"

#include <cmath>
#include <limits>

#include <mezzo/core/int8_tiles.hpp>

using namespace mezzo;
using namespace mezzo_tests;

namespace {

struct TileCase {
  std::int64_t rows = 70, depth = 40, columns = 50;
  DType dtype = DType::float32, out = DType::float32;
  double step = 5;
};

std::vector<Tensor> operands_of(const TileCase& c) {
  return {random_tensor({c.rows, c.depth}, c.dtype, 1), random_tensor({c.rows, c.columns}, c.dtype, 2),
          Tensor::scalar(3, DType::float64), Tensor::scalar(c.step, DType::float64)};
}

Attributes attributes_of(const TileCase& c) { return {{"key", std::int64_t{11}}, {"dtype", c.out}}; }

// Results equal those of the reference bit for bit.
void check(const TileCase& c, const std::vector<Tensor>& inputs) {
  const KernelRequest request = kernel_request("tile_matmul", attributes_of(c), inputs);
  const std::vector<Tensor> expected = widened_reference("tile_matmul", attributes_of(c), inputs, request.outputs);
  BOOST_TEST_CONTEXT(c.rows << " x " << c.depth << " x " << c.columns) {
    for_each_int8_isa([&](Isa isa) { check_xsimd_on(isa, request, inputs, expected, 0); });
  }
}

std::vector<double> results_of(const TileCase& c, const std::vector<Tensor>& inputs) {
  return run_reference("tile_matmul", attributes_of(c), inputs)[0].to_doubles();
}

// Integers from -9 to 9, and 127 in each row and column of a tile that has its largest magnitude.
Tensor whole_numbers(std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
  Tensor x = random_tensor({rows, columns}, DType::float32, seed, -9.49, 9.49);
  float* const numbers = x.mutable_data<float>();
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      float& number = numbers[i * columns + j];
      number = i % detail::tile_size == j % detail::tile_size ? 127 : std::round(number);
    }
  }
  return x;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(xsimd_tiles)

BOOST_AUTO_TEST_CASE(kernels_equal_the_reference) {
  for (const std::int64_t rows : {1, 4, 31, 32, 33, 130}) {
    for (const std::int64_t columns : {1, 16, 17, 32, 33, 64, 65, 130}) {
      check({.rows = rows, .depth = 37, .columns = columns}, operands_of({rows, 37, columns}));
    }
  }
  for (const std::int64_t depth : {1, 5, 6, 7, 31, 32, 64, 65}) {
    check({.rows = 40, .depth = depth, .columns = 20}, operands_of({40, depth, 20}));
  }
  check({.rows = 600, .depth = 200, .columns = 180}, operands_of({600, 200, 180}));
}

BOOST_AUTO_TEST_CASE(dtypes) {
  for (const DType dtype : {DType::float32, DType::bfloat16}) {
    for (const DType out : {DType::float32, DType::bfloat16}) {
      const TileCase c{.dtype = dtype, .out = out};
      check(c, operands_of(c));
    }
  }
}

BOOST_AUTO_TEST_CASE(no_samples_give_zeros) {
  const TileCase c{.rows = 0, .depth = 3, .columns = 2};
  check(c, operands_of(c));
  BOOST_TEST(results_of(c, operands_of(c)) == std::vector<double>(6), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(nan_and_infinity_spoil_their_tiles) {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    const TileCase c{.rows = 64, .depth = 64, .columns = 64};
    std::vector<Tensor> inputs = operands_of(c);
    inputs[1].mutable_data<float>()[std::size_t{40} * 64 + 50] = static_cast<float>(bad);
    check(c, inputs);
    const std::vector<double> out = results_of(c, inputs);
    for (std::size_t k = 0; k < 64; ++k) {
      for (std::size_t n = 0; n < 64; ++n) BOOST_TEST(std::isnan(out[k * 64 + n]) == (n >= 32));
    }
  }
}

BOOST_AUTO_TEST_CASE(smallest_and_largest_numbers) {
  for (const double scale : {0x1p-148, 0x1p-119, 0x1p-60, 0x1p60}) {
    const TileCase c;
    std::vector<Tensor> inputs = operands_of(c);
    for (std::int64_t i = 0; i < inputs[1].size(); ++i) {
      float& x = inputs[1].mutable_data<float>()[i];
      x = static_cast<float>(x * scale);
    }
    check(c, inputs);
  }
}

BOOST_AUTO_TEST_CASE(whole_numbers_are_exact) {
  // Codes are the numbers themselves, which no rounding changes.
  const TileCase c{.rows = 96, .depth = 64, .columns = 64};
  std::vector<Tensor> inputs = operands_of(c);
  inputs[0] = whole_numbers(c.rows, c.depth, 4);
  inputs[1] = whole_numbers(c.rows, c.columns, 5);
  const std::vector<double> exact =
      run_reference("matmul", {{"transpose_a", true}, {"transpose_b", false}}, {inputs[0], inputs[1]})[0].to_doubles();
  BOOST_TEST(results_of(c, inputs) == exact, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(means_over_steps_are_exact) {
  // One row and one column: 100.25 is 100 in three of four steps, and 101 in one.
  TileCase c{.rows = 1, .depth = 1, .columns = 2};
  std::vector<Tensor> inputs = operands_of(c);
  inputs[0].mutable_data<float>()[0] = 127;
  inputs[1].mutable_data<float>()[0] = 127;
  inputs[1].mutable_data<float>()[1] = 100.25F;
  constexpr int steps = 4000;
  double sum = 0;
  for (int i = 0; i < steps; ++i) {
    inputs[3] = Tensor::scalar(i, DType::float64);
    const double code = results_of(c, inputs)[1] / 127;
    BOOST_TEST((code == 100 || code == 101));
    sum += code;
  }
  BOOST_TEST(std::abs(sum / steps - 100.25) < 0.03);  // four standard errors of sqrt(0.25 * 0.75 / steps)
}

BOOST_AUTO_TEST_SUITE_END()
