#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstring>

#include "support/xsimd.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// Compares with Tensor::cast, the definition of casts. A NaN must stay a NaN, with any bits.
void check_cast(const Tensor& x, DType to) {
  const KernelRequest request = kernel_request("cast", {{"dtype", to}}, {x});
  const Tensor expected = x.cast(to);
  const std::vector<double> want = expected.to_doubles();
  for_each_isa([&](Isa isa) {
    std::string reason;
    const auto kernel = xsimd_kernel(request, isa, reason);
    BOOST_TEST_REQUIRE(kernel != nullptr, reason);
    const auto out = run_kernel(*kernel, request, {x});
    const std::vector<double> got = out[0].to_doubles();
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < want.size(); ++i) {
      const bool same =
          std::isnan(want[i]) ? std::isnan(got[i]) : want[i] == got[i] && std::signbit(want[i]) == std::signbit(got[i]);
      if (!same) ++wrong;
    }
    BOOST_TEST(wrong == 0, x.describe() << " to " << dtype_name(to) << ": " << wrong << " are wrong");
    BOOST_TEST(same_unaligned(*kernel, {x}, out));
  });
}

using Bits = std::vector<std::uint32_t>;

Tensor floats_of(const Bits& bits) {
  Tensor x({static_cast<std::int64_t>(bits.size())});
  std::memcpy(x.mutable_data<float>(), bits.data(), x.bytes());
  return x;
}

std::uint32_t bits_of(float x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

/// All numbers of a 16-bit float.
template <class Half>
Tensor all_halves() {
  Tensor x({65536}, DTypeOf<Half>::value);
  Half* data = x.mutable_data<Half>();
  for (std::int64_t i = 0; i < 65536; ++i) data[i].bits = static_cast<std::uint16_t>(i);
  return x;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(xsimd_cast)

BOOST_AUTO_TEST_CASE(floats) {
  Bits bits;  // random bits: all exponents
  for (std::uint32_t i = 0; i < 65536; ++i) {
    for (const std::uint32_t step : {0U, 0x7fffU, 0xabcdU}) bits.push_back(i * 65537U + step);
  }
  for (const DType to : xsimd_dtypes) {
    check_cast(floats_of(bits), to);
    check_cast(all_halves<bfloat16>(), to);
    check_cast(all_halves<float16>(), to);
  }
}

BOOST_AUTO_TEST_CASE(halfway) {  // ties, and their neighbours
  Bits bits;
  for (std::uint32_t i = 0; i < 65536; ++i) {
    bfloat16 b;
    float16 h;
    b.bits = h.bits = static_cast<std::uint16_t>(i);
    for (const std::uint32_t step : {0U, 1U, 2U}) {
      bits.push_back(bits_of(static_cast<float>(b)) + 0x7fffU + step);
      bits.push_back(bits_of(static_cast<float>(h)) + 0x0fffU + step);
    }
  }
  for (const DType to : xsimd_dtypes) check_cast(floats_of(bits), to);
}

BOOST_AUTO_TEST_CASE(integers) {
  std::vector<std::int32_t> numbers{INT32_MIN, INT32_MIN + 1, INT32_MAX, INT32_MAX - 1};
  for (int shift = 0; shift < 31; ++shift) {
    for (const int step : {-129, -128, -127, -1, 0, 1, 127, 128, 129}) {
      for (const int sign : {-1, 1}) {
        const auto power = std::int64_t{1} << shift;
        numbers.push_back(static_cast<std::int32_t>(sign * (power + step)));
        numbers.push_back(
            static_cast<std::int32_t>(sign * (power + power / 256 + step)));  // halfway between two bfloat16
      }
    }
  }
  Tensor bytes({256}, DType::uint8);
  for (int i = 0; i < 256; ++i) bytes.mutable_data<std::uint8_t>()[i] = static_cast<std::uint8_t>(i);
  for (const DType to : xsimd_dtypes) {
    check_cast(Tensor({static_cast<std::int64_t>(numbers.size())}, numbers), to);
    check_cast(bytes, to);
    check_cast(small_integers({37}).cast(DType::boolean), to);
  }
}

BOOST_AUTO_TEST_CASE(sizes) {
  for (const std::int64_t size : xsimd_sizes) {
    for (const DType from : {DType::float32, DType::bfloat16, DType::float16, DType::int32, DType::uint8}) {
      for (const DType to : xsimd_dtypes) check_xsimd("cast", {{"dtype", to}}, {small_integers({size}, from)}, 0);
    }
  }
  check_xsimd("cast", {{"dtype", DType::bfloat16}}, {random_tensor({shared_size})}, 0);
}

BOOST_AUTO_TEST_SUITE_END()
