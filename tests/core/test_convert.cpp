#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstring>
#include <limits>

#include <mezzo/core/convert.hpp>

BOOST_AUTO_TEST_SUITE(convert)

BOOST_AUTO_TEST_CASE(wide_numbers_round_once_to_sixteen_bits) {
  // Slightly above a tie: rounding to float first would give the tie, which then rounds down to even.
  const double above_tie = 1.0 + 0x1p-8 + 0x1p-40;
  BOOST_TEST(static_cast<float>(mezzo::convert<mezzo::bfloat16>(above_tie)) == 1.0F + 0x1p-7F);
  BOOST_TEST(static_cast<float>(mezzo::convert<mezzo::bfloat16>(-above_tie)) == -1.0F - 0x1p-7F);
  BOOST_TEST(static_cast<float>(mezzo::convert<mezzo::bfloat16>(1.0 + 0x1p-8)) == 1.0F);
  // Slightly below the next tie; float rounds it up to the tie.
  const double below_tie = 1.0 + 3 * 0x1p-8 - 0x1p-40;
  BOOST_TEST(static_cast<float>(mezzo::convert<mezzo::bfloat16>(below_tie)) == 1.0F + 0x1p-7F);
  BOOST_TEST(static_cast<float>(mezzo::convert<mezzo::float16>(1.0 + 0x1p-11 + 0x1p-40)) == 1.0F + 0x1p-10F);
  BOOST_TEST(static_cast<float>(mezzo::convert<mezzo::float16>(0x1p-25 + 0x1p-60)) == 0x1p-24F);
  const std::int64_t big = (std::int64_t{1} << 62) + (std::int64_t{1} << 54) + 1;
  BOOST_TEST(static_cast<float>(mezzo::convert<mezzo::bfloat16>(big)) == 0x1p62F + 0x1p55F);
  const std::int32_t middle = (1 << 30) + (1 << 22) + 1;
  BOOST_TEST(static_cast<float>(mezzo::convert<mezzo::bfloat16>(middle)) == 0x1p30F + 0x1p23F);
}

BOOST_AUTO_TEST_CASE(overflow_and_nan_stay_what_they_are) {
  const double inf = std::numeric_limits<double>::infinity();
  BOOST_TEST(static_cast<float>(mezzo::convert<mezzo::bfloat16>(1e300)) == std::numeric_limits<float>::infinity());
  BOOST_TEST(static_cast<float>(mezzo::convert<mezzo::float16>(-inf)) == -std::numeric_limits<float>::infinity());
  BOOST_TEST(std::isnan(static_cast<float>(mezzo::convert<mezzo::float16>(std::nan("")))));
  BOOST_TEST(static_cast<float>(mezzo::convert<mezzo::float16>(1e-300)) == 0.0F);
  BOOST_TEST(std::signbit(static_cast<float>(mezzo::convert<mezzo::float16>(-0.0))));
}

BOOST_AUTO_TEST_CASE(floats_truncate_and_stop_at_the_ends_of_integers) {
  BOOST_TEST(mezzo::convert<std::int32_t>(2.9F) == 2);
  BOOST_TEST(mezzo::convert<std::int32_t>(-2.9F) == -2);
  BOOST_TEST(mezzo::convert<std::int32_t>(3e9F) == std::numeric_limits<std::int32_t>::max());
  BOOST_TEST(mezzo::convert<std::int64_t>(-1e30) == std::numeric_limits<std::int64_t>::min());
  BOOST_TEST(mezzo::convert<std::int64_t>(0x1p63) == std::numeric_limits<std::int64_t>::max());
  BOOST_TEST(int{mezzo::convert<std::uint8_t>(-0.5F)} == 0);
  BOOST_TEST(int{mezzo::convert<std::uint8_t>(255.9F)} == 255);
  BOOST_TEST(int{mezzo::convert<std::int8_t>(mezzo::float16(-200.0F))} == -128);
  BOOST_TEST(int{mezzo::convert<std::int8_t>(std::nanf(""))} == 0);
}

BOOST_AUTO_TEST_CASE(integers_keep_their_low_bits_and_bool_tests_for_zero) {
  BOOST_TEST(int{mezzo::convert<std::uint8_t>(std::int32_t{-1})} == 255);
  BOOST_TEST(int{mezzo::convert<std::int8_t>(std::int64_t{300})} == 44);
  BOOST_TEST(mezzo::convert<bool>(0.25F));
  BOOST_TEST(!mezzo::convert<bool>(-0.0));
  BOOST_TEST(mezzo::convert<bool>(mezzo::bfloat16(1e-30F)));
  BOOST_TEST(static_cast<float>(mezzo::convert<mezzo::float16>(true)) == 1.0F);
}

BOOST_AUTO_TEST_SUITE_END()
