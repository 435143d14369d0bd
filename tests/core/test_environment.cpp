#include <boost/test/unit_test.hpp>

#include <mezzo/core/environment.hpp>
#include <mezzo/core/error.hpp>
#include <mezzo/core/tuning.hpp>

#include "support/environment.hpp"
#include "support/throws.hpp"

using mezzo::detail::environment_choice;
using mezzo_tests::check_throws;
using mezzo_tests::Environment;

BOOST_AUTO_TEST_SUITE(environment)

BOOST_AUTO_TEST_CASE(values_are_those_that_are_listed) {
  BOOST_TEST(environment_choice("MEZZO_TEST_CHOICE", {"a", "b"}).empty());
  const Environment good("MEZZO_TEST_CHOICE", "b");
  BOOST_TEST(environment_choice("MEZZO_TEST_CHOICE", {"a", "b"}) == "b");
  check_throws<mezzo::ValueError>("MEZZO_TEST_CHOICE must be 0 or dispatch; got \"b\"", [] {
    environment_choice("MEZZO_TEST_CHOICE", {"0", "dispatch"});
  });
}

BOOST_AUTO_TEST_CASE(switches_are_0_or_1) {
  const Environment junk("MEZZO_WARN_SLOW_POLICY", "off");
  check_throws<mezzo::ValueError>("MEZZO_WARN_SLOW_POLICY must be 0 or 1; got \"off\"",
                                  [] { mezzo::detail::turned_off("MEZZO_WARN_SLOW_POLICY"); });
}

BOOST_AUTO_TEST_SUITE_END()
