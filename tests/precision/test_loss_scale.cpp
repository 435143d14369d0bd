#include <boost/test/unit_test.hpp>

#include <mezzo/precision/loss_scale.hpp>

using mezzo::LossScale;

BOOST_AUTO_TEST_SUITE(loss_scale)

BOOST_AUTO_TEST_CASE(grows_after_an_interval_of_finite_steps) {
  LossScale scale({.initial_scale = 8, .growth_interval = 3});
  for (int i = 0; i < 2; ++i) BOOST_TEST(scale.update(true));
  BOOST_TEST(scale.scale() == 8);
  BOOST_TEST(scale.update(true));
  BOOST_TEST(scale.scale() == 16);
}

BOOST_AUTO_TEST_CASE(backs_off_and_begins_to_count_anew) {
  LossScale scale({.initial_scale = 8, .growth_interval = 2});
  scale.update(true);
  BOOST_TEST(scale.update(false));
  BOOST_TEST(scale.scale() == 4);
  BOOST_TEST(scale.skipped() == 1);
  scale.update(true);
  BOOST_TEST(scale.scale() == 4);
  scale.update(true);
  BOOST_TEST(scale.scale() == 8);
}

BOOST_AUTO_TEST_CASE(stays_between_floor_and_cap) {
  LossScale low({.initial_scale = 2, .floor = 1});
  BOOST_TEST(low.update(false));
  BOOST_TEST(!low.update(false));
  BOOST_TEST(low.scale() == 1);
  LossScale high({.initial_scale = 2, .growth_interval = 1, .cap = 3});
  high.update(true);
  BOOST_TEST(high.scale() == 3);
}

BOOST_AUTO_TEST_CASE(begins_as_torch_does) { BOOST_TEST(LossScale().scale() == 65536); }

BOOST_AUTO_TEST_SUITE_END()
