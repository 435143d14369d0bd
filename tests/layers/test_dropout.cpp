#include <mezzo/layers/regularization/dropout.hpp>

#include <algorithm>

#include <mezzo/core/random.hpp>

#include "parity.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

std::vector<double> run_once(Dropout& layer, double step, std::uint64_t seed = 0, std::int64_t size = 10000) {
  Trace trace(Trace::Mode::eager, true);
  trace.runtime_values[{detail::RuntimeScalar::step}] = step;
  trace.runtime_values[{detail::RuntimeScalar::seed}] = static_cast<double>(seed);
  return layer(Value(Tensor({size}, std::vector<float>(static_cast<std::size_t>(size), 1.0F)))).tensor().to_doubles();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(dropout)

BOOST_AUTO_TEST_CASE(equals_keras_in_inference) {
  check_recorded("dropout_inference", [] { return Dropout({.rate = 0.5}); });
}

BOOST_AUTO_TEST_CASE(drops_that_part_and_scales_the_rest) {
  Dropout layer({.rate = 0.2});
  const auto y = run_once(layer, 0);
  const auto dropped = std::count(y.begin(), y.end(), 0.0);
  BOOST_TEST(std::count(y.begin(), y.end(), 1.25) == static_cast<std::ptrdiff_t>(y.size()) - dropped);
  BOOST_TEST(std::abs(static_cast<double>(dropped) - 2000) < 200);  // five deviations
}

BOOST_AUTO_TEST_CASE(what_is_dropped_depends_on_step_and_seed) {
  Dropout layer({.rate = 0.5});
  BOOST_TEST(run_once(layer, 3) == run_once(layer, 3));
  BOOST_TEST(run_once(layer, 3) != run_once(layer, 4));
  BOOST_TEST(run_once(layer, 3) != run_once(layer, 3, 1));
}

BOOST_AUTO_TEST_CASE(gradients_pass_where_values_pass) {
  Dropout layer({.rate = 0.5});
  const Tensor ones({100}, std::vector<float>(100, 1.0F));
  const LayerRun run = run_layer(layer, {ones}, ones, true);
  BOOST_TEST(run.input_gradients[0].to_doubles() == run.output.to_doubles());
}

BOOST_AUTO_TEST_CASE(a_rate_of_0_drops_nothing) {
  Dropout layer({.rate = 0});
  BOOST_TEST(run_once(layer, 0) == std::vector<double>(10000, 1.0));
}

BOOST_AUTO_TEST_CASE(bad_rates_are_refused) {
  BOOST_TEST(refused<ValueError>([] { Dropout(); }) == "[Dropout] rate must lie in [0, 1); got -1");
  BOOST_TEST(refused<ValueError>([] { Dropout({.rate = 1, .name = "d"}); }) ==
             "[Dropout \"d\"] rate must lie in [0, 1); got 1");
  BOOST_TEST(refused<ValueError>([] { Dropout({.rate = 1.0000001}); }) ==
             "[Dropout] rate must lie in [0, 1); got 1.0000001");
}

BOOST_AUTO_TEST_SUITE_END()
