#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstring>

#include "support/xsimd.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// Tensor::cast is the definition. NaNs need only stay NaNs.
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
      const bool same = std::isnan(want[i]) ? std::isnan(got[i])
                                            : want[i] == got[i] && std::signbit(want[i]) == std::signbit(got[i]);
      if (!same) ++wrong;
    }
    BOOST_TEST(wrong == 0, x.describe() << " to " << dtype_name(to) << ": " << wrong << " are wrong");
    BOOST_TEST(same_unaligned(*kernel, {x}, out));
  });
}

/// float32 of all exponents: every 65537th bit pattern, and those around it.
Tensor all_sorts_of_floats() {
  Tensor x({3 * 65536});
  float* data = x.mutable_data<float>();
  for (std::uint32_t i = 0; i < 3 * 65536; ++i) {
    const std::uint32_t bits = i / 3 * 65537U + i % 3 * 0x7fffU;
    std::memcpy(data + i, &bits, sizeof bits);
  }
  return x;
}

/// Every number of a 16-bit float.
template <class Half>
Tensor all_halves() {
  Tensor x({65536}, DTypeOf<Half>::value);
  Half* data = x.mutable_data<Half>();
  for (std::uint32_t i = 0; i < 65536; ++i) data[i].bits = static_cast<std::uint16_t>(i);
  return x;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(xsimd_cast)

BOOST_AUTO_TEST_CASE(floats) {
  for (const DType to : xsimd_dtypes) {
    check_cast(all_sorts_of_floats(), to);
    check_cast(all_halves<bfloat16>(), to);
    check_cast(all_halves<float16>(), to);
  }
}

BOOST_AUTO_TEST_CASE(halfway) {  // ties, and their neighbours
  Tensor x({6 * 65536});
  float* data = x.mutable_data<float>();
  for (std::uint32_t i = 0; i < 65536; ++i) {
    bfloat16 b;
    b.bits = static_cast<std::uint16_t>(i);
    float16 h;
    h.bits = static_cast<std::uint16_t>(i);
    for (std::uint32_t k = 0; k < 3; ++k) {
      std::uint32_t bits[2];
      const float values[2] = {static_cast<float>(b), static_cast<float>(h)};
      std::memcpy(bits, values, sizeof bits);
      bits[0] += 0x7fffU + k;
      bits[1] += 0x0fffU + k;
      std::memcpy(data + 6 * i + 2 * k, bits, sizeof bits);
    }
  }
  for (const DType to : xsimd_dtypes) check_cast(x, to);
}

BOOST_AUTO_TEST_CASE(integers) {
  std::vector<std::int32_t> numbers{INT32_MIN, INT32_MIN + 1, INT32_MAX, INT32_MAX - 1};
  for (int shift = 0; shift < 31; ++shift) {
    for (const int step : {-129, -128, -127, -1, 0, 1, 127, 128, 129}) {
      for (const int sign : {-1, 1}) {
        const auto power = std::int64_t{1} << shift;
        numbers.push_back(static_cast<std::int32_t>(sign * (power + step)));
        numbers.push_back(static_cast<std::int32_t>(sign * (power + power / 256 + step)));  // a tie of bfloat16
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
