#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstring>
#include <limits>

#include <mezzo/core/bfloat16.hpp>

namespace {

float from_bits(std::uint32_t bits) {
  float x = 0;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

mezzo::bfloat16 of_bits(std::uint32_t bits) {
  mezzo::bfloat16 x;
  x.bits = static_cast<std::uint16_t>(bits);
  return x;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(bfloat16)

BOOST_AUTO_TEST_CASE(every_value_survives_the_way_through_float) {
  int wrong = 0;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto wide = static_cast<float>(of_bits(bits));
    const mezzo::bfloat16 back(wide);
    const bool is_nan = (bits & 0x7fffU) > 0x7f80U;
    wrong += is_nan ? !(std::isnan(wide) && back.bits == (bits | 0x40U)) : back.bits != bits;
  }
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(rounds_to_nearest_even_around_every_tie) {
  int wrong = 0;
  for (std::uint32_t upper = 0; upper < 0x7f80; ++upper) {
    const std::uint32_t even = upper + (upper & 1U);
    for (const std::uint32_t sign : {0U, 0x8000U}) {
      const std::uint32_t tie = ((sign | upper) << 16) | 0x8000U;
      wrong += mezzo::bfloat16(from_bits(tie - 1)).bits != (sign | upper);
      wrong += mezzo::bfloat16(from_bits(tie)).bits != (sign | even);
      wrong += mezzo::bfloat16(from_bits(tie + 1)).bits != (sign | (upper + 1));
    }
  }
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(nan_never_becomes_infinite) {
  BOOST_TEST(std::isnan(static_cast<float>(mezzo::bfloat16(from_bits(0x7f800001)))));
  BOOST_TEST(std::isnan(static_cast<float>(mezzo::bfloat16(from_bits(0xffffffff)))));
  BOOST_TEST(static_cast<float>(mezzo::bfloat16(std::numeric_limits<float>::max())) ==
             std::numeric_limits<float>::infinity());
}

BOOST_AUTO_TEST_SUITE_END()
