// Trainings of 2, 3 and 4 ranks against one process with the joined batches.
#include <boost/test/unit_test.hpp>

#include "training/ranks/rank_runs.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// Batches of 12 samples for all ranks.
RankRun joined_run(RankNetOptions net = {}, TrainerOptions trainer = {}) {
  return {.net = std::move(net), .trainer = rank_trainer(std::move(trainer)), .loader = {.batch_size = 12}};
}

void check_against_one(const RankRun& run, double tolerance = 1e-12) {
  const RankResult one = run_of_rank(run, "single");
  for (const int ranks : {2, 3, 4}) {
    BOOST_TEST_CONTEXT(ranks << " ranks") {
      const double difference = difference_of(run_by_ranks(run, ranks), one);
      BOOST_TEST(difference < tolerance);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rank_trainings)

BOOST_AUTO_TEST_CASE(sgd_and_adam_with_shuffled_data) {
  for (const bool adam : {false, true}) {
    RankRun run = joined_run();
    run.loader.shuffle = true;
    if (adam) run.net.optimizer = [] { return Adam({.learning_rate = 0.01}); };
    check_against_one(run);
  }
}

BOOST_AUTO_TEST_CASE(float32) {
  RankRun run = joined_run({}, {.precision = "float32"});
  check_against_one(run, 1e-5);
}

// 53 = 4 * 12 + 5: blocks of 3 and 2; of 2, 2 and 1; of 2, 1, 1 and 1 samples. 50: the last batch of 2 has none for
// some ranks.
BOOST_AUTO_TEST_CASE(uneven_last_batches_and_ranks_without_samples) {
  for (const std::int64_t samples : {53, 50, 49}) {
    RankRun run = joined_run({.l2 = 0.01});
    run.samples = samples;
    run.validation_samples = samples - 12;
    check_against_one(run);
  }
}

BOOST_AUTO_TEST_CASE(dropout_is_that_of_the_sample) {
  RankRun run = joined_run({.dropout = 0.4});
  run.samples = 53;
  run.loader.shuffle = true;
  check_against_one(run);
}

BOOST_AUTO_TEST_CASE(validation_numbers_are_those_of_all_samples) {
  RankRun run = joined_run({}, {.val_check_interval = 2});
  run.validation_samples = 31;
  check_against_one(run);
}

BOOST_AUTO_TEST_CASE(accumulation_and_clipping) {
  check_against_one(joined_run({}, {.accumulate_grad_batches = 3, .gradient_clip_val = 0.05}));
  check_against_one(joined_run({}, {.gradient_clip_val = 0.01, .gradient_clip_algorithm = "value"}));
  RankRun run = joined_run({.optimizer = [] { return SGD({.learning_rate = 0.2, .global_clipnorm = 0.05}); }});
  check_against_one(run);
}

BOOST_AUTO_TEST_CASE(early_stopping_stops_all_ranks_at_the_same_epoch) {
  RankRun run = joined_run({}, {.max_epochs = 20});
  run.validation_samples = 31;
  run.net.optimizer = [] { return SGD({.learning_rate = 2.0}); };
  const auto with_stop = [&](Strategy strategy) {
    RankRun own = run;
    own.trainer.callbacks = {EarlyStopping({.monitor = "val_loss", .patience = 1})};
    return run_of_rank(own, std::move(strategy));
  };
  const RankResult one = with_stop("single");
  std::vector<RankResult> results(3);
  const auto errors = run_ranks(3, [&](const std::shared_ptr<Communicator>& own) {
    results[static_cast<std::size_t>(own->rank())] = with_stop(own);
  });
  for (const std::string& error : errors) BOOST_REQUIRE_EQUAL(error, "");
  BOOST_TEST(one.numbers.size() < one.names.size() * 20);
  for (const RankResult& result : results) BOOST_TEST(difference_of(result, one) < 1e-11);
}

BOOST_AUTO_TEST_SUITE_END()
