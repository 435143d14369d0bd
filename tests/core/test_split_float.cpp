#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstring>
#include <limits>

#include <mezzo/core/split_float.hpp>

using mezzo::bfloat16;
using mezzo::SplitFloat;

namespace {

float of_bits(std::uint32_t bits) {
  float x = 0;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

std::uint32_t bits_of(float x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

/// Zero, subnormal, odd and even numbers, the last number below a power of two, the largest, infinity; with both signs.
constexpr std::uint32_t upper_halves[] = {0x0000, 0x0001, 0x0002, 0x007f, 0x0080, 0x3f7f, 0x3f80, 0x3f81, 0x40ff,
                                          0x7f7e, 0x7f7f, 0x8000, 0x8001, 0x807f, 0xbf80, 0xbf81, 0xff7e, 0xff7f};

}  // namespace

BOOST_AUTO_TEST_SUITE(split_float)

BOOST_AUTO_TEST_CASE(halves_are_exact_for_all_lower_halves) {
  for (const std::uint32_t upper : upper_halves) {
    int wrong = 0;
    for (std::uint32_t lower = 0; lower < 0x10000; ++lower) {
      const std::uint32_t bits = (upper << 16) | lower;
      const SplitFloat halves(of_bits(bits));
      const auto sum = static_cast<std::uint32_t>((static_cast<std::int64_t>(halves.high.bits) << 16) + halves.low);
      wrong += sum == bits && bits_of(static_cast<float>(halves)) == bits ? 0 : 1;
    }
    BOOST_TEST(wrong == 0, "upper half " << upper);
  }
}

BOOST_AUTO_TEST_CASE(the_high_half_is_rounded_to_nearest) {
  for (const std::uint32_t upper : upper_halves) {
    int other = 0;
    for (std::uint32_t lower = 0; lower < 0x10000; ++lower) {
      const float x = of_bits((upper << 16) | lower);
      other += SplitFloat(x).high.bits == bfloat16(x).bits ? 0 : 1;
    }
    // A tie above an even number rounds away from zero; rounding to even would not fit in `low`.
    BOOST_TEST(other == (upper % 2 == 0 ? 1 : 0), "upper half " << upper);
    const float halfway = of_bits((upper << 16) | 0x8000U);
    BOOST_TEST(SplitFloat(halfway).high.bits == upper + 1);
    BOOST_TEST(SplitFloat(halfway).low == -0x8000);
  }
}

BOOST_AUTO_TEST_CASE(what_is_not_finite_stays_so) {
  const float infinity = std::numeric_limits<float>::infinity();
  BOOST_TEST(static_cast<float>(SplitFloat(infinity)) == infinity);
  BOOST_TEST(static_cast<float>(SplitFloat(-infinity)) == -infinity);
  for (const std::uint32_t bits : {0x7fc00000U, 0x7f800001U, 0x7fffffffU, 0xffffffffU, 0xff80ffffU}) {
    const SplitFloat halves(of_bits(bits));
    BOOST_TEST(std::isnan(static_cast<float>(halves)));
    BOOST_TEST(std::isnan(static_cast<float>(halves.high)));
    BOOST_TEST(halves.low == 0);
  }
}

BOOST_AUTO_TEST_SUITE_END()
