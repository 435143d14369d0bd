#include <boost/test/unit_test.hpp>

#include <array>

#include <mezzo/core/random.hpp>

namespace {

using Words = std::array<std::uint32_t, 4>;

}

BOOST_AUTO_TEST_SUITE(random_numbers)

// Known answers from Random123 (kat_vectors, "philox4x32 10").
BOOST_AUTO_TEST_CASE(philox_gives_the_known_answers) {
  BOOST_TEST(mezzo::philox(0, 0, 0) == (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}),
             boost::test_tools::per_element());
  const std::uint64_t ones = ~std::uint64_t{0};
  BOOST_TEST(mezzo::philox(ones, ones, ones) == (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}),
             boost::test_tools::per_element());
  BOOST_TEST(mezzo::philox(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e) ==
                 (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(units_lie_below_one) {
  BOOST_TEST(mezzo::unit_float(0) == 0.0F);
  BOOST_TEST(mezzo::unit_float(0xffffffff) == 1.0F - 0x1p-24F);
  BOOST_TEST(mezzo::unit_float(0x80000000) == 0.5F);
  BOOST_TEST(mezzo::unit_double(0xffffffff, 0xffffffff) == 1.0 - 0x1p-53);
  BOOST_TEST(mezzo::unit_double(0x80000000, 0) == 0.5);
}

BOOST_AUTO_TEST_CASE(key_of_is_fnv_1a) {
  BOOST_TEST(mezzo::detail::key_of("") == 0xcbf29ce484222325U);
  BOOST_TEST(mezzo::detail::key_of("a") == 0xaf63dc4c8601ec8cU);
  BOOST_TEST(mezzo::detail::key_of("foobar") == 0x85944171f73967e8U);
}

BOOST_AUTO_TEST_CASE(mix_is_two_steps_of_split_mix) {
  // SplitMix64 of 0 is e220a8397b1dcdaf; adding -e220a8397b1dcdaf brings the second step back to 0.
  BOOST_TEST(mezzo::detail::mix(0, 0 - 0xe220a8397b1dcdafU) == 0xe220a8397b1dcdafU);
  BOOST_TEST(mezzo::detail::mix(1, 2) != mezzo::detail::mix(2, 1));
}

BOOST_AUTO_TEST_CASE(the_seed_is_0_until_it_is_set) {
  BOOST_TEST(mezzo::seed() == 0U);
  mezzo::seed_everything(42);
  BOOST_TEST(mezzo::seed() == 42U);
  mezzo::seed_everything(0);
}

BOOST_AUTO_TEST_CASE(seeding_starts_the_streams_again) {
  mezzo::seed_everything(1);
  const std::uint64_t first = mezzo::detail::next_stream(), second = mezzo::detail::next_stream();
  BOOST_TEST(first != second);
  mezzo::seed_everything(1);
  BOOST_TEST(mezzo::detail::next_stream() == first);
  BOOST_TEST(mezzo::detail::next_stream() == second);
}

BOOST_AUTO_TEST_SUITE_END()
