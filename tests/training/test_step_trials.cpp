#include <boost/test/unit_test.hpp>

#include <cmath>

#include <mezzo/training/step/step_probe.hpp>
#include <mezzo/training/step/step_trials.hpp>

#include "small.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(step_trials)

BOOST_AUTO_TEST_CASE(the_median_ignores_the_order_and_outliers) {
  BOOST_TEST(detail::median({3, 1, 100}) == 3);
  BOOST_TEST(detail::median({4, 1, 2, 3}) == 2.5);
  BOOST_TEST(detail::median({7}) == 7);
  BOOST_TEST(std::isinf(detail::median({})));
}

// A second run might give another number than that of times whose halves differ.
BOOST_AUTO_TEST_CASE(figures_are_those_that_both_halves_agree_on) {
  BOOST_TEST(*detail::agreed_median({10, 10.5, 90, 10, 11, 10.2}) == 10.35);
  BOOST_TEST(*detail::agreed_shortest({12, 10, 30, 10.9, 40, 10.5}) == 10);
  BOOST_TEST(*detail::agreed_median({9, 10}) == 9.5);
  BOOST_TEST(!detail::agreed_median({8.9, 10}));
  BOOST_TEST(!detail::agreed_median({10, 10, 10, 12, 12, 12}));
  BOOST_TEST(!detail::agreed_shortest({10, 10, 10, 8, 12, 12}));
  BOOST_TEST(!detail::agreed_median({10}));
  BOOST_TEST(!detail::agreed_shortest({}));
  BOOST_TEST(!detail::agreed_median({10, std::nan("")}));
  detail::Trial trial{.policy = "float32", .seconds = {1, 1, 2, 2}};
  BOOST_TEST(trial.time() == 1.5);
  BOOST_TEST(!trial.agreed_time());
  trial.seconds = {2, 2, 2, 2};
  BOOST_TEST(*trial.agreed_time() == 2);
}

BOOST_AUTO_TEST_CASE(trials_take_turns_unless_their_steps_are_long) {
  std::vector<detail::Trial> trials(3);
  std::string order;
  detail::in_turns(trials, 3, 1.0, [&](detail::Trial& trial, int round) {
    const auto i = &trial - trials.data();
    order += std::to_string(round) + static_cast<char>('a' + i) + " ";
    trial.taken = i == 1 ? 2 : 0.5;
  });
  BOOST_TEST(order == "0a 0b 0c 1a 1c 2a 2c ");
}

BOOST_AUTO_TEST_CASE(a_round_counts_its_steps_and_restores_weights) {
  Sequential model = line(2);
  model.compile({.optimizer = SGD({.learning_rate = 0.1}), .loss = "mse"});
  const HostBatch batch = *DataLoader(pairs({1, 2}, {1, 1}), {.batch_size = 2}).epoch(0).next();
  detail::Trial trial{.policy = "mixed_bfloat16"};
  for (int round = 1; round <= 2; ++round) {
    const auto plan = detail::take_steps(model, {batch}, {.policy = trial.policy}, {.steps = 3}, trial);
    BOOST_TEST(trial.seconds.size() == static_cast<std::size_t>(3 * round));
    BOOST_TEST(trial.losses.size() == static_cast<std::size_t>(3 + detail::warm_up_steps));
    BOOST_TEST(plan->profile().runs() == 3 + detail::warm_up_steps - 1);
    BOOST_TEST(weight_of(model) == 2);
  }
  BOOST_TEST(trial.losses[0] > trial.losses[1]);
}

BOOST_AUTO_TEST_CASE(reports_time_in_rounds_of_all_policies) {
  Sequential model = line(2);
  model.compile({.optimizer = SGD(), .loss = "mse"});
  const HostBatch batch = *DataLoader(pairs({1, 2}, {1, 1}), {.batch_size = 2}).epoch(0).next();
  for (const int steps : {1, 3, 5, 12}) {
    int resets = 0;
    const auto times =
        time_steps(model, batch, {{.policy = "float32"}, {.policy = "mixed_bfloat16"}}, steps, [&] { ++resets; });
    BOOST_TEST(resets == 2 * std::min(steps, detail::timing_rounds));
    BOOST_TEST_REQUIRE(times.size() == 2U);
    for (const StepTimes& time : times) {
      BOOST_TEST((time.seconds >= 0 && std::isfinite(time.seconds)));
      if (steps == 1) BOOST_TEST(time.seconds == 0);  // nothing to agree on
      BOOST_TEST(time.layers.count("line") == 1U);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
