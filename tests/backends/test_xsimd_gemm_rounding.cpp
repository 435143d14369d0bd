#include <boost/test/unit_test.hpp>

#include <cstring>

#include "support/xsimd.hpp"

// Products of bfloat16 whose right operand is float32 and is rounded while it is packed.

using namespace mezzo;
using namespace mezzo_tests;

namespace {

struct Sizes {
  std::int64_t rows, depth, columns;
};

/// Random numbers, some of which are halfway between two bfloat16, infinite, NaN of several payloads, subnormal, or
/// round to infinity.
Tensor with_corners(const Shape& shape) {
  Tensor x = random_tensor(shape, DType::float32, 2);
  std::uint32_t at = 0;
  for (const std::uint32_t bits : {0x3f808000U, 0x3f818000U, 0x3f808001U, 0xbf817fffU, 0x7f800000U, 0xff800000U,
                                   0x7fc00000U, 0x7f800001U, 0xffffffffU, 0x7f7fffffU, 0x00000001U, 0x80008000U}) {
    std::memcpy(x.mutable_data<float>() + at++ * 97 % static_cast<std::uint32_t>(x.size()), &bits, sizeof bits);
  }
  return x;
}

/// Compares the product with that of the rounded operand, bit for bit.
void check_rounding(const Sizes& sizes, bool transpose_a, bool transpose_b, DType out) {
  const std::int64_t rows = sizes.rows, depth = sizes.depth, columns = sizes.columns;
  const Attributes attributes{{"transpose_a", transpose_a}, {"transpose_b", transpose_b}, {"dtype", out}};
  const Tensor left = random_tensor(transpose_a ? Shape{depth, rows} : Shape{rows, depth}, DType::bfloat16, 1);
  const Tensor right = with_corners(transpose_b ? Shape{columns, depth} : Shape{depth, columns});
  const std::vector<Tensor> masters{left, right}, copies{left, right.cast(DType::bfloat16)};
  const KernelRequest of_copies = kernel_request("matmul", attributes, copies);
  const KernelRequest of_masters = kernel_request("matmul", with_attribute(attributes, "rounds_right", true), masters);
  for_each_isa([&](Isa isa) {
    std::string reason;
    const auto kernel = xsimd_gemm_kernel(of_masters, isa, reason);
    BOOST_TEST_REQUIRE(kernel != nullptr, reason);
    const auto expected = run_kernel(*xsimd_gemm_kernel(of_copies, isa, reason), of_copies, copies);
    const auto result = run_kernel(*kernel, of_masters, masters);
    BOOST_TEST(all_equal(result, expected), "differs at " << rows << " " << depth << " " << columns);
    BOOST_TEST(same_unaligned(*kernel, masters, result));
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(xsimd_gemm_rounding)

BOOST_AUTO_TEST_CASE(equals_the_product_of_the_rounded_operand) {
  // Columns below, at and above panels; pieces of the depth; pieces of the rows.
  for (const Sizes& sizes :
       {Sizes{7, 9, 1}, Sizes{7, 9, 9}, Sizes{7, 9, 33}, Sizes{37, 1100, 70}, Sizes{1003, 161, 35}}) {
    for (const DType out : {DType::float32, DType::bfloat16}) {
      for (const bool a : {false, true}) {
        for (const bool b : {false, true}) check_rounding(sizes, a, b, out);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(rounds_only_float32) {
  const Spec half{{20, 20}, DType::bfloat16};
  const Attributes attributes{{"transpose_a", false}, {"transpose_b", false}, {"rounds_right", true}};
  std::string reason;
  BOOST_TEST(
      !xsimd_gemm_kernel(kernel_request("matmul", attributes, std::vector<Spec>{half, half}), Isa::sse2, reason));
  BOOST_TEST(reason == "rounds right operands in float32; got bfloat16");
}

BOOST_AUTO_TEST_SUITE_END()
