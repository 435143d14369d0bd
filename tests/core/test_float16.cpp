#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstring>
#include <limits>

#include <mezzo/core/float16.hpp>

namespace {

mezzo::float16 of_bits(std::uint32_t bits) {
  mezzo::float16 x;
  x.bits = static_cast<std::uint16_t>(bits);
  return x;
}

// Decodes the format in double arithmetic.
double value_of(std::uint32_t bits) {
  const auto exponent = static_cast<int>((bits >> 10) & 31U);
  const double fraction = bits & 0x3ffU;
  const double magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024.0 + fraction, exponent - 25);
  return (bits & 0x8000U) != 0 ? -magnitude : magnitude;
}

// The compiler's conversion, if it has one.
std::uint16_t reference(float x) {
#if defined(__FLT16_MANT_DIG__)
  const auto half = static_cast<_Float16>(x);
  std::uint16_t bits = 0;
  std::memcpy(&bits, &half, sizeof bits);
  return bits;
#else
  return mezzo::float16(x).bits;
#endif
}

}  // namespace

BOOST_AUTO_TEST_SUITE(float16)

BOOST_AUTO_TEST_CASE(every_value_is_exact_in_float_and_survives_the_way_through_it) {
  int wrong = 0;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto wide = static_cast<float>(of_bits(bits));
    const std::uint32_t magnitude = bits & 0x7fffU;
    if (magnitude > 0x7c00U) {
      wrong += !std::isnan(wide) || !std::isnan(static_cast<float>(mezzo::float16(wide)));
    } else {
      wrong += mezzo::float16(wide).bits != bits;
      wrong += magnitude == 0x7c00U ? !std::isinf(wide) : wide != value_of(bits);
      wrong += std::signbit(wide) != ((bits & 0x8000U) != 0);
    }
  }
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(rounds_to_nearest_even_around_every_tie) {
  int wrong = 0;
  for (std::uint32_t bits = 0; bits < 0x7c00; ++bits) {
    // The next number above the largest finite value would be 2^16.
    const double next = bits == 0x7bff ? 65536.0 : value_of(bits + 1);
    const auto tie = static_cast<float>((value_of(bits) + next) / 2);
    for (const std::uint32_t sign : {0U, 0x8000U}) {
      const float s = sign == 0 ? 1.0F : -1.0F;
      wrong += mezzo::float16(s * std::nextafter(tie, 0.0F)).bits != (sign | bits);
      wrong += mezzo::float16(s * tie).bits != (sign | (bits + (bits & 1U)));
      wrong += mezzo::float16(s * std::nextafter(tie, 1e6F)).bits != (sign | (bits + 1));
    }
  }
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(agrees_with_the_compiler_on_floats_of_every_exponent) {
  int wrong = 0;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 1021) {
    const auto word = static_cast<std::uint32_t>(bits);
    float x = 0;
    std::memcpy(&x, &word, sizeof x);
    if (!std::isnan(x)) wrong += mezzo::float16(x).bits != reference(x);
  }
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(overflows_from_65520_on) {
  BOOST_TEST(static_cast<float>(mezzo::float16(65519.996F)) == 65504.0F);
  BOOST_TEST(static_cast<float>(mezzo::float16(65520.0F)) == std::numeric_limits<float>::infinity());
  BOOST_TEST(static_cast<float>(mezzo::float16(-1e30F)) == -std::numeric_limits<float>::infinity());
}

BOOST_AUTO_TEST_SUITE_END()
