// The search for a learning rate, compared with tests/parity/recorded/lightning_callbacks.json.
#include <boost/test/unit_test.hpp>

#include <nlohmann/json.hpp>

#include "support/captured.hpp"
#include "support/folder.hpp"
#include "support/layers.hpp"
#include "support/recorded.hpp"
#include "support/refused.hpp"
#include "training/callbacks/feeder.hpp"
#include "training/checkpoint_runs.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using boost::test_tools::per_element;
using boost::test_tools::tolerance;
using Json = nlohmann::json;

namespace {

History fit_line(Sequential& model, const Callbacks& callbacks) {
  return model.fit(column(xs), column(ys),
                   {.batch_size = 2, .epochs = 1, .verbose = 0, .callbacks = callbacks, .shuffle = false});
}

// Notes the learning rate of each step.
class Rates : public Callback {
 public:
  void on_train_batch_begin(std::int64_t, Logs&) override { rates.push_back(session().learning_rate()); }
  std::vector<double> rates;
};

void check(const std::string& name, const LearningRateFinderOptions& options) {
  const CapturedOutput warnings;
  const Json& record = recorded("lightning_callbacks").at(name);
  Sequential model = compiled_line();
  LearningRateFinder finder(options);
  Rates used;
  fit_line(model, {finder, used});
  BOOST_TEST_CONTEXT(name) {
    BOOST_TEST(finder.lrs() == record.at("lrs").get<std::vector<double>>(), tolerance(1e-12) << per_element());
    BOOST_TEST(finder.losses() == record.at("losses").get<std::vector<double>>(), tolerance(1e-4) << per_element());
    const auto suggested = finder.suggestion(), all = finder.suggestion(0, 1);
    BOOST_TEST(suggested.has_value() == !record.at("suggestion").is_null());
    if (suggested) BOOST_TEST(*suggested == record.at("suggestion").get<double>(), tolerance(1e-12));
    BOOST_TEST(all.value() == record.at("all").get<double>(), tolerance(1e-12));
    BOOST_TEST_REQUIRE(used.rates.size() == 3U);
    BOOST_TEST(used.rates[0] == (options.update_attr ? suggested.value_or(0.01) : 0.01));
  }
}

// Trains in two parts, so that the optimizer has state when the second one begins.
struct Parts {
  explicit Parts(const Way& way)
      : run(way, Any<Optimizer>(AdamW([&] {
              AdamWOptions options = way.options;
              options.learning_rate = 0.03;
              return options;
            }()))) {}

  void fit(const Callbacks& callbacks) {
    seed_everything(3);
    const Trainer trainer({.max_epochs = 2,
                           .precision = Policy(run.way.policy),
                           .callbacks = callbacks,
                           .enable_progress_bar = false,
                           .loss_scale = run.way.loss_scale});
    trainer.fit(run.model, Run::data());
  }

  Run run;
};

// Searches at the start of each epoch.
class EachEpoch : public LearningRateFinder {
 public:
  using LearningRateFinder::LearningRateFinder;
  void on_fit_start() override {}
  void on_epoch_begin(int, Logs&) override { lr_find(); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(learning_rate_finder)

BOOST_AUTO_TEST_CASE(rates_and_losses_are_those_of_lightning) {
  check("rates", {.min_lr = 1e-4, .num_training_steps = 40, .early_stop_threshold = 20.0});
  check("rates_linear", {.min_lr = 1e-4,
                         .max_lr = 0.1,
                         .num_training_steps = 30,
                         .mode = "linear",
                         .early_stop_threshold = std::nullopt});
  check("rates_linear", {.min_lr = 1e-4,
                         .max_lr = 0.1,
                         .num_training_steps = 30,
                         .mode = "linear",
                         .early_stop_threshold = std::nullopt,
                         .update_attr = false});
}

BOOST_AUTO_TEST_CASE(everything_else_is_restored) {
  const CapturedOutput warnings;
  for (const Way& way : ways()) {
    Parts plain(way), searched(way);
    plain.fit({});
    searched.fit({EachEpoch({.num_training_steps = 7, .update_attr = false}),
                  LearningRateFinder({.num_training_steps = 3, .update_attr = false})});
    BOOST_TEST_CONTEXT(name_of(way)) {
      BOOST_TEST(changed_since(values_of(plain.run.model), searched.run.model) == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(losses_that_are_not_finite_end_the_search) {
  const CapturedOutput captured;
  Sequential model = compiled_line();
  LearningRateFinder finder({.max_lr = 1e30, .early_stop_threshold = std::nullopt});
  fit_line(model, {finder});
  BOOST_TEST(finder.losses().size() < 100U);
  BOOST_TEST(!std::isfinite(finder.losses().back()));
  BOOST_TEST(finder.suggestion().has_value());
  BOOST_TEST(!finder.suggestion(0, 98).has_value());
  Sequential other = compiled_line();
  LearningRateFinder shorter({.max_lr = 1e-3, .num_training_steps = 12, .early_stop_threshold = std::nullopt});
  fit_line(other, {shorter});
  BOOST_TEST(captured.text() ==
             "mezzo: warning: [LearningRateFinder] no learning rate is suggested: more than 12 steps must have a "
             "finite loss; got 12\n");
}

BOOST_AUTO_TEST_CASE(what_is_refused) {
  const auto text = [](const LearningRateFinderOptions& options) {
    return refused<ValueError>([&] { LearningRateFinder finder(options); });
  };
  BOOST_TEST(text({.min_lr = 0}) == "[LearningRateFinder] min_lr must be above 0 and below max_lr; got 0 and 1");
  BOOST_TEST(text({.max_lr = 1e-9}) ==
             "[LearningRateFinder] min_lr must be above 0 and below max_lr; got 1e-08 and 1e-09");
  BOOST_TEST(text({.num_training_steps = 1}) == "[LearningRateFinder] num_training_steps must be at least 2; got 1");
  BOOST_TEST(text({.early_stop_threshold = 0}) == "[LearningRateFinder] early_stop_threshold must be above 0; got 0");
  BOOST_TEST(refused<NameError>([] { LearningRateFinder({.mode = "cubic"}); }).find("linear") != std::string::npos);
  BOOST_TEST(refused<ValueError>([] { static_cast<void>(LearningRateFinder().suggestion(-1)); }) ==
             "[LearningRateFinder] skip_begin and skip_end must be 0 or more; got -1 and 1");
  Sequential scheduled = line(0.5);
  scheduled.compile(
      {.optimizer = SGD({.learning_rate = ExponentialDecay({.initial_learning_rate = 0.1, .decay_steps = 1})}),
       .loss = "mse"});
  BOOST_TEST(refused<ValueError>([&] { fit_line(scheduled, {LearningRateFinder()}); }).find("Schedule") !=
             std::string::npos);
  Sequential model = compiled_line();
  struct Evaluated : LearningRateFinder {
    void on_test_begin(Logs&) override { lr_find(); }
  };
  fit_line(model, {});
  BOOST_TEST(refused<ValueError>([&] { model.evaluate(column(xs), column(ys), {.callbacks = {Evaluated()}}); }) ==
             "[Callback] try_steps: must be called in fit; got a call elsewhere");
}

BOOST_AUTO_TEST_SUITE_END()
