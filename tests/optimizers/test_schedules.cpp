#include <boost/test/unit_test.hpp>

#include <mezzo/core/error.hpp>
#include <mezzo/optimizers/cosine_decay.hpp>
#include <mezzo/optimizers/cosine_decay_restarts.hpp>
#include <mezzo/optimizers/exponential_decay.hpp>
#include <mezzo/optimizers/inverse_time_decay.hpp>
#include <mezzo/optimizers/linear_warmup.hpp>
#include <mezzo/optimizers/piecewise_constant_decay.hpp>
#include <mezzo/optimizers/polynomial_decay.hpp>

#include "support/recorded.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

void check_recorded(const std::string& name, const detail::LearningRate& rate) {
  const auto& expected = recorded("schedules").at(name);
  for (std::size_t i = 0; i < expected.at("steps").size(); ++i) {
    const auto step = expected.at("steps")[i].get<std::int64_t>();
    const auto wanted = expected.at("rates")[i].get<double>();
    BOOST_TEST_CONTEXT(name << " at step " << step) {
      BOOST_TEST(std::abs(rate.at(step) - wanted) <= 1e-15 + 1e-13 * wanted);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(schedules)

BOOST_AUTO_TEST_CASE(equal_keras) {
  check_recorded("cosine_decay", CosineDecay({.initial_learning_rate = 0.1, .decay_steps = 100}));
  check_recorded("cosine_decay_alpha", CosineDecay({.initial_learning_rate = 0.1, .decay_steps = 10, .alpha = 0.2}));
  check_recorded(
      "cosine_decay_warmup",
      CosineDecay(
          {.initial_learning_rate = 0.01, .decay_steps = 90, .alpha = 0.1, .warmup_target = 0.5, .warmup_steps = 10}));
  check_recorded("exponential_decay",
                 ExponentialDecay({.initial_learning_rate = 0.1, .decay_steps = 10, .decay_rate = 0.9}));
  check_recorded(
      "exponential_decay_staircase",
      ExponentialDecay({.initial_learning_rate = 0.1, .decay_steps = 10, .decay_rate = 0.5, .staircase = true}));
  check_recorded("piecewise_constant_decay",
                 PiecewiseConstantDecay({.boundaries = {2, 10, 100}, .values = {1, 0.5, 0.1, 0.01}}));
  check_recorded("inverse_time_decay",
                 InverseTimeDecay({.initial_learning_rate = 0.1, .decay_steps = 10, .decay_rate = 0.5}));
  check_recorded("inverse_time_decay_staircase", InverseTimeDecay(0.1, 10, 0.5, true));
  check_recorded("polynomial_decay", PolynomialDecay(0.1, 100));
  check_recorded("polynomial_decay_power", PolynomialDecay(0.1, 50, 0.01, 2));
  check_recorded(
      "polynomial_decay_cycle",
      PolynomialDecay(
          {.initial_learning_rate = 0.1, .decay_steps = 10, .end_learning_rate = 0.01, .power = 0.5, .cycle = true}));
  check_recorded("cosine_decay_restarts", CosineDecayRestarts(0.1, 7));
  check_recorded("cosine_decay_restarts_options",
                 CosineDecayRestarts(
                     {.initial_learning_rate = 0.1, .first_decay_steps = 7, .t_mul = 1.5, .m_mul = 0.8, .alpha = 0.1}));
  check_recorded("cosine_decay_restarts_equal", CosineDecayRestarts(0.1, 7, 1, 0.5));
  check_recorded("cosine_decay_alpha", CosineDecay(0.1, 10, {.alpha = 0.2}));
  check_recorded("exponential_decay_staircase", ExponentialDecay(0.1, 10, 0.5, true));
  check_recorded("piecewise_constant_decay", PiecewiseConstantDecay({2, 10, 100}, {1, 0.5, 0.1, 0.01}));
}

BOOST_AUTO_TEST_CASE(a_warm_up_comes_before_another_schedule) {
  const detail::LearningRate rate = LinearWarmup(PolynomialDecay(0.5, 10, 0), 4, 0.1);
  for (int step = 0; step < 4; ++step) BOOST_TEST(std::abs(rate.at(step) - (0.1 + 0.1 * step)) < 1e-15);
  BOOST_TEST(rate.at(4) == 0.5);
  BOOST_TEST(rate.at(14) == 0);
  BOOST_TEST(LinearWarmup({.after = 2, .warmup_steps = 2})(1) == 1);
}

BOOST_AUTO_TEST_CASE(a_function_is_a_schedule) {
  const detail::LearningRate rate = [](std::int64_t step) { return 0.5 / static_cast<double>(1 + step); };
  BOOST_TEST(rate.is_schedule());
  BOOST_TEST(rate.at(4) == 0.1);
}

BOOST_AUTO_TEST_CASE(a_number_is_a_constant_rate) {
  const detail::LearningRate rate = 0.25;
  BOOST_TEST(rate.at(0) == 0.25);
  BOOST_TEST(rate.at(1000) == 0.25);
}

BOOST_AUTO_TEST_CASE(bad_options_are_refused) {
  BOOST_TEST(refused<ValueError>([] { CosineDecay({.initial_learning_rate = 1}); }) ==
             "[CosineDecay] decay_steps must be at least 1; got 0");
  BOOST_TEST(refused<ValueError>([] { CosineDecay({.decay_steps = 1, .warmup_steps = 5}); }) ==
             "[CosineDecay] warmup_target must be given with warmup_steps; got only warmup_steps = 5");
  BOOST_TEST(refused<ValueError>([] { InverseTimeDecay(0.1, 0, 1); }) ==
             "[InverseTimeDecay] decay_steps must be at least 1; got 0");
  BOOST_TEST(refused<ValueError>([] { PolynomialDecay(0.1, -5); }) ==
             "[PolynomialDecay] decay_steps must be at least 1; got -5");
  BOOST_TEST(refused<ValueError>([] { CosineDecayRestarts(0.1, 0); }) ==
             "[CosineDecayRestarts] first_decay_steps must be at least 1; got 0");
  BOOST_TEST(refused<ValueError>([] { CosineDecayRestarts(0.1, 5, 0.5); }) ==
             "[CosineDecayRestarts] t_mul must be at least 1; got 0.5");
  BOOST_TEST(refused<ValueError>([] { LinearWarmup(0.1, 0); }) ==
             "[LinearWarmup] warmup_steps must be at least 1; got 0");
  BOOST_TEST(refused<ValueError>([] { LinearWarmup({.warmup_steps = 1}); }) ==
             "[LinearWarmup] after must be given; got no rate");
  BOOST_TEST(refused<ValueError>([] { CosineDecay(0.1, 10, {.decay_steps = 5}); }) ==
             "[CosineDecay] initial_learning_rate and decay_steps must be given once; got them as arguments and as "
             "options");
  BOOST_TEST(refused<ValueError>([] { ExponentialDecay({.decay_steps = -1}); }) ==
             "[ExponentialDecay] decay_steps must be at least 1; got -1");
  BOOST_TEST(refused<ValueError>([] { PiecewiseConstantDecay({.boundaries = {1}, .values = {1}}); }) ==
             "[PiecewiseConstantDecay] values must have one element more than boundaries; got 1 and 1");
  BOOST_TEST(refused<ValueError>([] {
               PiecewiseConstantDecay({.boundaries = {2, 2}, .values = {1, 2, 3}});
             }) == "[PiecewiseConstantDecay] boundaries must rise; got 2, 2");
}

BOOST_AUTO_TEST_SUITE_END()
