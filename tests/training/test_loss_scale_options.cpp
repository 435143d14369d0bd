#include <boost/test/unit_test.hpp>

#include <fstream>

#include <mezzo/training/step/step_runner.hpp>

#include "small.hpp"
#include "support/captured.hpp"
#include "support/folder.hpp"
#include "support/layers.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const LossScaleOptions fixed_at_8{.dynamic = false, .initial_scale = 8};

const LossScale& scale_of(const Optimizer& optimizer) { return optimizer.state()->loss_scale; }

Trainer trainer_of(const std::optional<LossScaleOptions>& options, const char* policy = "16-mixed") {
  return Trainer({.max_epochs = 1, .precision = policy, .enable_progress_bar = false, .loss_scale = options});
}

DataLoader harmless() { return DataLoader(pairs({1, 1, 1, 1}, {1, 1, 1, 1}), {.batch_size = 1}); }

/// Scale after an epoch of four finite steps.
double scale_after(const std::optional<LossScaleOptions>& compiled, const std::optional<LossScaleOptions>& trainer) {
  const SGD optimizer;
  Sequential model = line(1);
  model.compile({.optimizer = optimizer, .loss = "mse", .loss_scale = compiled});
  trainer_of(trainer).fit(model, harmless());
  return scale_of(optimizer).scale();
}

/// Two independent layers, each with an optimizer of its own.
class Two : public Module {
 public:
  explicit Two(std::optional<LossScaleOptions> second = {}) : Module("Two"), second_(second) {}

  Value training_step(const Batch& batch) override {
    const Value first = mean_squared_error(batch["y"], first_line_(batch["x"]));
    const Value second = mean_squared_error(batch["y"], second_line_(batch["z"]));
    minimize(first, optimizer("a"));
    minimize(second, optimizer("b"));
    return first;
  }

  OptimizerConfigs configure_optimizers() override {
    return {{.optimizer = a, .weights = first_line_.weights(), .name = "a"},
            {.optimizer = b, .weights = second_line_.weights(), .name = "b", .loss_scale = second_}};
  }

  SGD a{SGDOptions{.learning_rate = 1e-3}}, b{SGDOptions{.learning_rate = 1e-3}};

 private:
  std::optional<LossScaleOptions> second_;
  Dense first_line_ = sub("first", Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(1)}));
  Dense second_line_ = sub("second", Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(1)}));
};

/// Batch with an error of `second` in the loss of b, and of 1/4, which never overflows, in the loss of a.
DataLoader two_losses(double second) {
  return DataLoader(
      Dataset::from_tensors({{"x", column({0.25})}, {"z", column({second})}, {"y", column({0}), Role::target}}));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(loss_scale_options)

BOOST_AUTO_TEST_CASE(the_trainers_hold_then_those_of_compile_then_the_defaults) {
  const LossScaleOptions growing{.initial_scale = 4, .growth_interval = 2};
  BOOST_TEST(scale_after({}, {}) == 65536);
  BOOST_TEST(scale_after(growing, {}) == 16);
  BOOST_TEST(scale_after({}, growing) == 16);
  BOOST_TEST(scale_after(growing, fixed_at_8) == 8);
  BOOST_TEST(scale_after(fixed_at_8, growing) == 16);
  BOOST_TEST(scale_after(growing, LossScaleOptions()) == 65536);
}

BOOST_AUTO_TEST_CASE(they_are_given_in_braces) {
  const SGD optimizer;
  Sequential model({Dense({.units = 1})}, {.dtype = "mixed_float16"});
  model.compile({.optimizer = optimizer, .loss = "mse", .loss_scale = {{.initial_scale = 2}}});
  model.fit(column({1}), column({1}), {.verbose = false});
  BOOST_TEST(scale_of(optimizer).scale() == 2);
  Trainer({.max_epochs = 1, .enable_progress_bar = false, .loss_scale = {{.dynamic = false, .initial_scale = 32}}})
      .fit(model, harmless());
  BOOST_TEST(scale_of(optimizer).scale() == 32);
}

BOOST_AUTO_TEST_CASE(a_bad_one_is_refused_where_it_is_given) {
  const LossScaleOptions bad{.backoff_factor = 2};
  const std::string text = "loss_scale.backoff_factor must be between 0 and 1; got 2";
  BOOST_TEST(refused<ValueError>([&] { trainer_of(bad); }) == "[Trainer] " + text);
  Sequential model = line(1);
  BOOST_TEST(refused<ValueError>([&] { model.compile({.loss = "mse", .loss_scale = bad}); }) ==
             "[Sequential] compile: " + text);
  Two two(bad);
  BOOST_TEST(refused<ValueError>([&] { trainer_of({}).fit(two, two_losses(0.25)); }) ==
             "[Trainer] optimizer \"b\": " + text);
}

BOOST_AUTO_TEST_CASE(an_epoch_reports_scale_and_skips_where_something_computes_in_float16) {
  const auto logged = [](const char* policy, const Dataset& data) {
    Sequential model({Dense({.units = 1, .dtype = policy}), Dense({.units = 1, .dtype = "float32"})});
    model.compile({.optimizer = SGD(), .loss = "mse", .loss_scale = fixed_at_8});
    return model.fit(DataLoader(data), {.verbose = false}).history;
  };
  const Dataset data = pairs({1}, {1});
  auto float16 = logged("mixed_float16", data);
  BOOST_TEST(float16["loss_scale"] == std::vector<double>{8}, boost::test_tools::per_element());
  BOOST_TEST(float16["skipped_steps"] == std::vector<double>{0}, boost::test_tools::per_element());
  const Dataset narrow =
      Dataset::from_tensors({{"x", column({1}).cast(DType::float16)}, {"y", column({1}), Role::target}});
  for (const auto& history : {logged("mixed_bfloat16", data), logged("float32", data), logged("float32", narrow)}) {
    BOOST_TEST(history.count("loss") == 1U);
    BOOST_TEST(history.count("loss_scale") == 0U);
    BOOST_TEST(history.count("skipped_steps") == 0U);
  }
}

BOOST_AUTO_TEST_CASE(history_and_bar_show_growth_and_skips_of_each_epoch) {
  Sequential model = line(1);
  model.compile({.optimizer = SGD({.learning_rate = 0}), .loss = "mse"});
  const CapturedOutput captured;
  // The errors are 1 and 1000; the gradient of the second overflows above a scale of 32.
  const Trainer trainer(
      {.max_epochs = 3, .precision = "16-mixed", .loss_scale = {{.initial_scale = 32, .growth_interval = 1}}});
  auto history = trainer.fit(model, DataLoader(pairs({1, 1000}, {0, 0}), {.batch_size = 1})).history;
  // In each epoch the scale grows from 32 to 64, the error of 1000 overflows, and it is 32 again.
  BOOST_TEST(history["loss_scale"] == (std::vector<double>{32, 32, 32}), boost::test_tools::per_element());
  BOOST_TEST(history["skipped_steps"] == (std::vector<double>{1, 1, 1}), boost::test_tools::per_element());
  BOOST_TEST(captured.text().find(", loss_scale=32, skipped_steps=1]\n") != std::string::npos);
  const double both = (1 + 1e6) / 2;  // the skipped step's loss is finite
  BOOST_TEST(history["loss"] == (std::vector<double>{both, both, both}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(batches_loggers_and_bars_have_the_scale) {
  Sequential model = line(1);
  model.compile({.optimizer = SGD({.learning_rate = 0}), .loss = "mse", .loss_scale = fixed_at_8});
  Logs batch, bar;
  class Shown : public ProgressBar {
   public:
    explicit Shown(Logs& to) : to_(to) {}
    void on_train_batch_end(std::int64_t, Logs&) override { to_ = get_metrics(); }

   private:
    Logs& to_;
  };
  const Folder folder;
  const Trainer trainer(
      {.max_epochs = 1,
       .precision = "16-mixed",
       .callbacks = {LambdaCallback({.on_train_batch_end = [&](std::int64_t, Logs& logs) { batch = logs; }}),
                     Shown(bar)},
       .logger = {loggers::CSVLogger(folder.path(), {.name = "", .version = "a"})},
       .log_every_n_steps = 1});
  trainer.fit(model, DataLoader(pairs({1}, {0})));
  BOOST_TEST(batch.at("loss_scale") == 8);
  BOOST_TEST(batch.at("skipped_steps") == 0);
  BOOST_TEST(bar.at("loss_scale") == 8);
  std::ifstream file(folder.path("a/metrics.csv"));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  BOOST_TEST(text.rfind("epoch,loss_epoch,loss_scale,loss_step,skipped_steps,step", 0) == 0U, text);
  Sequential half({Dense({.units = 1})}, {.dtype = "mixed_float16"});
  half.compile({.loss = "mse", .loss_scale = fixed_at_8});
  BOOST_TEST(half.train_on_batch(column({1}), column({0})).at("loss_scale") == 8);
  BOOST_TEST(!half.test_on_batch(column({1}), column({0})).contains("loss_scale"));
}

BOOST_AUTO_TEST_CASE(each_optimizer_has_a_scale_that_the_other_does_not_touch) {
  for (const bool eager : {false, true}) {
    Two two;
    const CapturedOutput captured;
    const Trainer trainer({.max_epochs = 2, .precision = "16-mixed", .enable_progress_bar = false, .eager = eager});
    auto history = trainer.fit(two, two_losses(200)).history;
    BOOST_TEST_CONTEXT((eager ? "eager" : "traced")) {
      BOOST_TEST(scale_of(two.a).scale() == 65536);
      BOOST_TEST(scale_of(two.b).scale() == 16384);
      BOOST_TEST(two.a.iterations() == 2);
      BOOST_TEST(two.b.iterations() == 0);
      BOOST_TEST(two.weights()[0].value().item() < 1);
      BOOST_TEST(two.weights()[1].value().item() == 1);
      BOOST_TEST(history.at("loss_scale_a") == (std::vector<double>{65536, 65536}), boost::test_tools::per_element());
      BOOST_TEST(history.at("loss_scale_b") == (std::vector<double>{32768, 16384}), boost::test_tools::per_element());
      BOOST_TEST(history.at("skipped_steps_a") == (std::vector<double>{0, 0}), boost::test_tools::per_element());
      BOOST_TEST(history.at("skipped_steps_b") == (std::vector<double>{1, 1}), boost::test_tools::per_element());
      BOOST_TEST(captured.text() ==
                 "mezzo: warning: [Trainer] step 0 of optimizer \"b\" was skipped: cast in the backward pass into "
                 "\"second\" gave the first value that is not finite (float16); loss scale 65536 -> 32768\n"
                 "mezzo: warning: [Trainer] step 1 of optimizer \"b\" was skipped: cast in the backward pass into "
                 "\"second\" gave the first value that is not finite (float16); loss scale 32768 -> 16384\n");
    }
  }
}

BOOST_AUTO_TEST_CASE(an_error_at_the_smallest_scale_of_one_leaves_the_other_counted) {
  Two two(LossScaleOptions{.initial_scale = 4096, .floor = 4096});
  BOOST_TEST(refused<ValueError>([&] { trainer_of({}).fit(two, two_losses(4)); }) == "");
  BOOST_TEST(
      refused<ValueError>([&] { trainer_of({}).fit(two, two_losses(200)); }) ==
      "[Trainer] loss and gradients of step 0 of optimizer \"b\" must be finite at the smallest loss scale, 4096; got: "
      "cast in the backward pass into \"second\" gave the first value that is not finite (float16)");
  BOOST_TEST(two.a.iterations() == 1);
  BOOST_TEST(two.b.iterations() == 0);
}

BOOST_AUTO_TEST_CASE(options_of_one_optimizer_are_its_own) {
  Two two(fixed_at_8);
  trainer_of({}).fit(two, two_losses(0.25));
  BOOST_TEST(scale_of(two.a).scale() == 65536);
  BOOST_TEST(scale_of(two.b).scale() == 8);
  trainer_of(LossScaleOptions{.initial_scale = 16}).fit(two, two_losses(0.25));
  BOOST_TEST(scale_of(two.a).scale() == 16);
  BOOST_TEST(scale_of(two.b).scale() == 16);
}

BOOST_AUTO_TEST_CASE(fit_goes_on_with_the_scale_and_a_trainer_begins_anew) {
  const SGD optimizer;
  Sequential model({Dense({.units = 1})}, {.dtype = "mixed_float16"});
  model.compile({.optimizer = optimizer, .loss = "mse", .loss_scale = {{.initial_scale = 4, .growth_interval = 2}}});
  model.fit(column({1}), column({1}), {.epochs = 3, .verbose = false});
  BOOST_TEST(scale_of(optimizer).scale() == 8);
  model.fit(column({1}), column({1}), {.verbose = false});
  BOOST_TEST(scale_of(optimizer).scale() == 16);
  optimizer.state()->loss_scale.set_state({1024, 1, 5});
  auto history = model.fit(column({1}), column({1}), {.verbose = false}).history;
  BOOST_TEST(history["loss_scale"].at(0) == 2048);
  BOOST_TEST(history["skipped_steps"].at(0) == 0);
  Trainer({.max_epochs = 1, .enable_progress_bar = false}).fit(model, DataLoader(pairs({1}, {1})));
  BOOST_TEST(scale_of(optimizer).scale() == 4);
  BOOST_TEST(scale_of(optimizer).skipped() == 0);
}

BOOST_AUTO_TEST_SUITE_END()
