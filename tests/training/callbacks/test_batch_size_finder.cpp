// The search for a batch size.
#include <boost/test/unit_test.hpp>

#include <mezzo/training/step/step_runner.hpp>

#include "support/captured.hpp"
#include "support/folder.hpp"
#include "support/layers.hpp"
#include "support/refused.hpp"
#include "training/checkpoint_runs.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr std::int64_t sized_samples = 100;

DataLoader sized_data(std::int64_t batch_size = 4) {
  std::vector<float> x;
  for (std::int64_t i = 0; i < 8 * sized_samples; ++i) x.push_back(static_cast<float>(i % 13) / 13);
  return DataLoader(
      Dataset::from_tensors({{"x", Tensor({sized_samples, 8}, x)}, {"y", Tensor({sized_samples, 8}, x), Role::target}}),
      {.batch_size = batch_size});
}

Sequential sized_model() {
  Sequential model({Dense(64, {.activation = "relu"}), Dense(8)});
  model.compile({.optimizer = "adam", .loss = "mse"});
  return model;
}

// Bytes that a step's plan needs for a batch size.
std::int64_t plan_bytes(std::int64_t batch_size) {
  Sequential model = sized_model();
  Trainer({.max_steps = 1, .enable_progress_bar = false}).fit(model, sized_data(batch_size));
  return static_cast<std::int64_t>(detail::training_state(model).last_plan->arena_bytes());
}

// Notes the sizes of the batches.
class BatchSizes : public Callback {
 public:
  void on_train_batch_end(std::int64_t, Logs&) override {
    sizes.push_back(session().batch_size());
    steps = session().steps();
  }
  std::vector<std::int64_t> sizes;
  std::int64_t steps = 0;
};

struct Sizing {
  std::vector<BatchSizeFinder::Trial> trials;
  std::int64_t found = 0;
  BatchSizes batches;
};

Sizing sized(const BatchSizeFinderOptions& options, int epochs = 1) {
  const CapturedOutput captured;
  Sequential model = sized_model();
  BatchSizeFinder finder(options);
  Sizing out;
  Trainer({.max_epochs = epochs, .callbacks = {finder, out.batches}}).fit(model, sized_data());
  out.trials = finder.trials();
  out.found = finder.optimal_batch_size().value();
  return out;
}

using Trials = std::vector<BatchSizeFinder::Trial>;

std::string sizing_refusal(const BatchSizeFinderOptions& options) {
  return refused<Error>([&] { sized(options); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(batch_size_finder)

BOOST_AUTO_TEST_CASE(sizes_double_until_a_trial_fails) {
  const Sizing found = sized({.memory_limit = plan_bytes(20)});
  BOOST_TEST((found.trials == Trials{{2, true}, {4, true}, {8, true}, {16, true}, {32, false}}));
  BOOST_TEST(found.found == 16);
  BOOST_TEST(found.batches.sizes == (std::vector<std::int64_t>{16, 16, 16, 16, 16, 16, 4}),
             boost::test_tools::per_element());
  BOOST_TEST(found.batches.steps == 7);
}

BOOST_AUTO_TEST_CASE(a_binary_search_follows) {
  const BatchSizeFinderOptions options{.mode = "binsearch", .margin = 0, .memory_limit = plan_bytes(21)};
  const Sizing found = sized(options);
  BOOST_TEST((
      found.trials ==
      Trials{
          {2, true}, {4, true}, {8, true}, {16, true}, {32, false}, {24, false}, {20, true}, {22, false}, {21, true}}));
  BOOST_TEST(found.found == 21);
  BatchSizeFinderOptions reduced = options;
  reduced.margin = 0.2;
  BOOST_TEST(sized(reduced).found == 16);  // 16.8
  reduced.max_trials = 7;
  reduced.margin = 0;
  BOOST_TEST(sized(reduced).found == 20);
}

BOOST_AUTO_TEST_CASE(sizes_have_limits) {
  BOOST_TEST(sized({}).found == sized_samples);
  BOOST_TEST(sized({.init_val = 3, .max_trials = 3}).found == 12);
  BOOST_TEST(sized({.max_val = 10}).found == 10);
  const Sizing smaller = sized({.init_val = 64, .memory_limit = plan_bytes(20)});
  BOOST_TEST((smaller.trials == Trials{{64, false}, {32, false}, {16, true}}));
  BOOST_TEST(sizing_refusal({.memory_limit = 1}) ==
             "[BatchSizeFinder] the system has not enough memory for batches of one sample");
  BOOST_TEST(sizing_refusal({.init_val = 64, .max_trials = 1, .memory_limit = plan_bytes(20)}) ==
             "[BatchSizeFinder] a trial must succeed; got 1 trials that failed, the last with size 64");
}

BOOST_AUTO_TEST_CASE(everything_else_is_restored) {
  const CapturedOutput captured;
  for (const Way& way : ways()) {
    Run plain(way), searched(way);
    const auto fit = [&](Run& run, const Callbacks& callbacks, std::int64_t batch_size) {
      seed_everything(3);
      Trainer({.max_epochs = 2,
               .precision = Policy(way.policy),
               .callbacks = callbacks,
               .enable_progress_bar = false,
               .loss_scale = way.loss_scale})
          .fit(run.model, Run::data(batch_size));
    };
    fit(plain, {}, 16);
    BatchSizeFinder finder({.max_val = 16});
    fit(searched, {finder}, 8);
    BOOST_TEST_CONTEXT(name_of(way)) {
      BOOST_TEST(finder.optimal_batch_size().value() == 16);
      BOOST_TEST(changed_since(values_of(plain.model), searched.model) == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_resumed_training_takes_the_size_of_its_checkpoint) {
  class Saving : public Callback {
   public:
    explicit Saving(std::string path) : path_(std::move(path)) {}
    void on_train_batch_end(std::int64_t batch, Logs&) override {
      if (batch == 2) session().save_checkpoint(path_);
    }

   private:
    std::string path_;
  };
  const CapturedOutput captured;
  const Folder folder;
  const std::string path = folder.path("a.ckpt");
  Sequential whole = sized_model(), resumed = sized_model();
  Trainer({.max_epochs = 1, .callbacks = {BatchSizeFinder({.max_val = 16}), Saving(path)}}).fit(whole, sized_data());
  BatchSizeFinder finder({.max_val = 32});
  BatchSizes batches;
  Trainer({.max_epochs = 1, .callbacks = {finder, batches}}).fit(resumed, sized_data(), {}, {.ckpt_path = path});
  BOOST_TEST(finder.trials().empty());
  BOOST_TEST(finder.optimal_batch_size().value() == 16);
  BOOST_TEST(batches.sizes == (std::vector<std::int64_t>{16, 16, 16, 4}), boost::test_tools::per_element());
  BOOST_TEST(changed_since(values_of(whole), resumed) == "");
}

BOOST_AUTO_TEST_CASE(keras_fit_searches_too) {
  const CapturedOutput captured;
  Sequential model = sized_model();
  BatchSizes batches;
  model.fit(sized_data().dataset(),
            {.batch_size = 4, .verbose = 0, .callbacks = {BatchSizeFinder({.max_val = 50}), batches}});
  BOOST_TEST(batches.sizes == (std::vector<std::int64_t>{50, 50}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(trial_runs_do_not_search) {
  const CapturedOutput captured;
  Sequential model = sized_model();
  BatchSizeFinder finder;
  LearningRateFinder rates;
  Trainer({.fast_dev_run = 1, .callbacks = {finder, rates}}).fit(model, sized_data());
  BOOST_TEST(finder.trials().empty());
  BOOST_TEST(rates.lrs().empty());
}

BOOST_AUTO_TEST_CASE(loaders_take_another_batch_size) {
  const DataLoader loader = sized_data().map([](HostBatch batch, std::int64_t, std::int64_t) {
    batch.fields[0].tensor = (batch.fields[0].tensor * 2).tensor();
    return batch;
  });
  const DataLoader other = loader.with_batch_size(30);
  BOOST_TEST(other.size() == 4);
  BOOST_TEST(other.options().batch_size == 30);
  BOOST_TEST(other.epoch(0).next()->fields[0].tensor.to_doubles()[1] == 2.0 / 13, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(refused<ValueError>([&] { loader.with_batch_size(0); }).find("batch_size") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(mistakes) {
  const auto refusal = [](const BatchSizeFinderOptions& options) {
    return refused<Error>([&] { BatchSizeFinder finder(options); });
  };
  BOOST_TEST(refusal({.mode = "linear"}) == "[BatchSizeFinder] unknown mode \"linear\"; valid names: power, binsearch");
  BOOST_TEST(refusal({.steps_per_trial = 0}) == "[BatchSizeFinder] steps_per_trial must be 1 or more; got 0");
  BOOST_TEST(refusal({.init_val = 0}) == "[BatchSizeFinder] init_val must be 1 or more; got 0");
  BOOST_TEST(refusal({.max_trials = 0}) == "[BatchSizeFinder] max_trials must be 1 or more; got 0");
  BOOST_TEST(refusal({.margin = 1}) == "[BatchSizeFinder] margin must lie in [0, 1); got 1");
  BOOST_TEST(refusal({.init_val = 9, .max_val = 8}) == "[BatchSizeFinder] max_val must be at least init_val, 9; got 8");
  BOOST_TEST(refusal({.memory_limit = 0}) == "[BatchSizeFinder] memory_limit must be 1 or more; got 0");
  class Late : public Callback {
    void on_epoch_begin(int, Logs&) override { session().set_batch_size(2); }
  };
  Sequential model = sized_model();
  BOOST_TEST(refused<ValueError>([&] {
               Trainer({.max_epochs = 1, .callbacks = {Late()}, .enable_progress_bar = false}).fit(model, sized_data());
             }) == "[Callback] set_batch_size: must be called in on_fit_start or on_resume; got a call elsewhere");
}

BOOST_AUTO_TEST_SUITE_END()
