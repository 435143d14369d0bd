#include <boost/test/unit_test.hpp>

#include <cmath>

#include <mezzo/training/step/step_runner.hpp>

#include "small.hpp"
#include "support/captured.hpp"
#include "support/layers.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using boost::test_tools::tolerance;
using detail::StepRunner;

namespace {

/// A model with gradients near 600, which overflow float16 at the first loss scales.
Sequential steep(const SGD& optimizer) {
  Sequential model({BatchNormalization(), Scale({.initial = 300}),
                    Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(1)})});
  model.compile({.optimizer = optimizer, .loss = "mse"});
  return model;
}

HostBatch batch() { return {{{"x", column({-2, 2})}, {"y", column({0, 0}), Role::target}}, 2}; }

double scale_of(const Optimizer& optimizer) { return optimizer.state()->loss_scale.scale(); }

}  // namespace

BOOST_AUTO_TEST_SUITE(loss_scaling)

BOOST_AUTO_TEST_CASE(a_step_that_overflows_is_skipped_and_halves_the_scale) {
  for (const bool eager : {false, true}) {
    const CapturedOutput captured;
    const SGD optimizer(
        {.learning_rate = ExponentialDecay({.initial_learning_rate = 1e-9, .decay_steps = 1, .decay_rate = 0.5}),
         .momentum = 0.9});
    Sequential model = steep(optimizer);
    StepRunner runner(model, {.policy = "mixed_float16", .eager = eager});
    runner.rehearse(Stage::fit, batch());
    runner.configure(false);
    const auto before = values_of(model);
    runner.run(Stage::fit, batch());
    BOOST_TEST_CONTEXT((eager ? "eager" : "traced")) {
      BOOST_TEST(runner.skipped());
      BOOST_TEST(scale_of(optimizer) == 32768.0);
      BOOST_TEST(optimizer.state()->loss_scale.skipped() == 1);
      BOOST_TEST(optimizer.iterations() == 0);
      BOOST_TEST(optimizer.learning_rate() == 1e-9);
      BOOST_TEST(changed_since(before, model) == "");
      for (const auto& slots : optimizer.state()->slots) {
        BOOST_TEST(slots.values.at(0)->value.equal(Tensor(slots.variable->value.shape())));
      }
      int skipped = 1;
      while (runner.run(Stage::fit, batch()), runner.skipped() && skipped < 30) ++skipped;
      BOOST_TEST(!runner.skipped());
      BOOST_TEST(scale_of(optimizer) == std::ldexp(65536.0, -skipped));
      BOOST_TEST(optimizer.iterations() == 1);
      BOOST_TEST(optimizer.learning_rate() == 0.5e-9, tolerance(1e-12));
      BOOST_TEST(changed_since(before, model).find("moving_mean") ==
                 std::string::npos);  // the mean of the data is 0, so it doesn't move
      BOOST_TEST(changed_since(before, model).find("moving_variance") != std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_step_that_is_taken_is_the_one_that_float32_takes) {
  const CapturedOutput captured;
  const auto trained = [](const char* policy) {
    Sequential model = line(1);
    model.compile({.optimizer = SGD({.learning_rate = 1e-7}), .loss = "mse"});
    Trainer({.max_epochs = 12, .precision = policy, .enable_progress_bar = false})
        .fit(model, DataLoader(pairs({300}, {0})));
    return weight_of(model);
  };
  BOOST_TEST(trained("mixed_float16") < 1);
  const double rate = 1e-7 * 2 * 300 * 300;  // each step multiplies the weight by 1 - rate; ten of them are skipped
  BOOST_TEST(trained("mixed_float16") == (1 - rate) * (1 - rate), tolerance(1e-4));
  BOOST_TEST(trained("float32") == std::pow(1 - rate, 12), tolerance(1e-5));
}

BOOST_AUTO_TEST_CASE(the_loss_of_a_skipped_step_counts_where_it_is_finite) {
  const CapturedOutput captured;
  const SGD optimizer({.learning_rate = 1e-9});
  Sequential model = steep(optimizer);
  const Trainer trainer({.max_epochs = 2, .precision = "16-mixed", .enable_progress_bar = false});
  const History history = trainer.fit(model, DataLoader(pairs({-1, 1}, {0, 0})));
  BOOST_TEST(history.history.at("loss").size() == 2U);
  BOOST_TEST(history.history.at("loss")[1] == 9e4, tolerance(1e-2));

  Sequential other = line(1);
  other.compile({.optimizer = SGD({.learning_rate = 0}), .loss = "mse"});
  const DataLoader loader(pairs({1e6, 2}, {0, 0}), {.batch_size = 1});  // 1e6 is infinite in float16
  BOOST_TEST(trainer.fit(other, loader).history.at("loss")[0] == 4);
}

BOOST_AUTO_TEST_CASE(a_loss_that_never_becomes_finite_is_an_error_in_the_end) {
  Sequential model = line(1);
  const CapturedOutput captured;
  const auto before = values_of(model);
  model.compile({.optimizer = SGD(), .loss = "mse"});
  const Trainer trainer({.max_epochs = 100, .precision = "16-mixed", .enable_progress_bar = false});
  const DataLoader loader(pairs({std::nan("")}, {0}));
  BOOST_TEST(
      refused<ValueError>([&] { trainer.fit(model, loader); }) ==
      "[Trainer] loss and gradients of step 32 must be finite at the smallest loss scale, 1.5258789e-05; got: input "
      "\"x\" holds a value that is not finite (float32)");
  BOOST_TEST(changed_since(before, model) == "");
}

BOOST_AUTO_TEST_CASE(one_layer_in_float16_turns_it_on_and_bfloat16_does_not) {
  const CapturedOutput captured;
  const auto scale_after = [](const char* policy) {
    const SGD optimizer({.learning_rate = 0});
    Sequential model({Dense({.units = 1, .dtype = policy}), Dense({.units = 1})});
    model.compile({.optimizer = optimizer, .loss = "mse"});
    model.fit(column({1000}), column({60000}), {.verbose = false});
    return scale_of(optimizer);
  };
  BOOST_TEST(scale_after("mixed_float16") == 32768.0);
  BOOST_TEST(scale_after("mixed_bfloat16") == 65536.0);
  BOOST_TEST(scale_after("float32") == 65536.0);
}

BOOST_AUTO_TEST_CASE(float16_weights_of_which_float32_is_computed_are_scaled_too) {
  const SGD optimizer;
  Sequential model({Dense({.units = 1})}, {.dtype = "p=f16,c=f32"});
  model.compile({.optimizer = optimizer, .loss = "mse", .loss_scale = {{.initial_scale = 4, .growth_interval = 1}}});
  model.fit(column({1}), column({1}), {.verbose = false});
  BOOST_TEST(scale_of(optimizer) == 8);
}

BOOST_AUTO_TEST_CASE(grows_after_an_interval_and_a_skip_makes_it_count_anew) {
  const CapturedOutput captured;
  const SGD optimizer({.learning_rate = 0});
  Sequential model({Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(1)})},
                   {.dtype = "mixed_float16"});
  model.compile({.optimizer = optimizer, .loss = "mse", .loss_scale = {{.initial_scale = 64, .growth_interval = 3}}});
  const auto after = [&](double error) {
    model.fit(column({error}), column({0}), {.verbose = false});
    return optimizer.state()->loss_scale.state();
  };
  BOOST_TEST(after(1).scale == 64);
  BOOST_TEST(after(1).finite_steps == 2);
  BOOST_TEST(after(1000).scale == 32);  // 2 * 1000 * 64 overflows
  BOOST_TEST(after(1).scale == 32);
  BOOST_TEST(after(1).finite_steps == 2);
  BOOST_TEST(after(1).scale == 64);
  BOOST_TEST(after(1).finite_steps == 1);
  BOOST_TEST(optimizer.iterations() == 6);
}

// Order of torch's GradScaler: scale, backward, unscale, clip, step. In Lightning fused optimizers can't clip (#21435).
BOOST_AUTO_TEST_CASE(gradients_are_unscaled_before_they_are_clipped) {
  const auto weight_after = [](const SGDOptions& options, double scale) {
    Sequential model = line(1);
    model.compile({.optimizer = SGD(options), .loss = "mse"});
    const Trainer trainer({.max_epochs = 1,
                           .precision = "16-mixed",
                           .enable_progress_bar = false,
                           .loss_scale = {{.dynamic = false, .initial_scale = scale}}});
    trainer.fit(model, DataLoader(pairs({3}, {0})));
    return weight_of(model);
  };
  for (const double scale : {1.0, 512.0}) {  // the gradient is 18
    BOOST_TEST(weight_after({.learning_rate = 0.01}, scale) == 1 - 0.01 * 18, tolerance(1e-6));
    BOOST_TEST(weight_after({.learning_rate = 0.01, .clipnorm = 2}, scale) == 1 - 0.01 * 2, tolerance(1e-6));
    BOOST_TEST(weight_after({.learning_rate = 0.01, .clipvalue = 3}, scale) == 1 - 0.01 * 3, tolerance(1e-6));
    BOOST_TEST(weight_after({.learning_rate = 0.01, .global_clipnorm = 4}, scale) == 1 - 0.01 * 4, tolerance(1e-6));
    BOOST_TEST(weight_after({.learning_rate = 0.01, .global_clipnorm = 20}, scale) == 1 - 0.01 * 18, tolerance(1e-6));
    BOOST_TEST(weight_after({.learning_rate = 0.01, .weight_decay = 2}, scale) == 1 - 0.01 * 20, tolerance(1e-6));
  }
}

BOOST_AUTO_TEST_CASE(small_gradients_survive_by_it_and_are_lost_without) {
  const auto weight_after = [](const std::optional<LossScaleOptions>& scale) {
    Sequential model({Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(1)})},
                     {.dtype = "mixed_float16"});
    model.compile({.optimizer = SGD({.learning_rate = 0x1p28}), .loss = "mse", .loss_scale = scale});
    // The gradient is 2^-29; the smallest float16 is 2^-24.
    model.fit(column({1}), column({0}), {.verbose = false, .sample_weight = Tensor({1}, std::vector<float>{0x1p-30F})});
    return weight_of(model);
  };
  BOOST_TEST(weight_after({}) == 0.5);
  BOOST_TEST(weight_after(LossScaleOptions{.dynamic = false, .initial_scale = 1}) == 1);
}

BOOST_AUTO_TEST_CASE(the_loss_that_is_reported_is_not_scaled) {
  for (const bool eager : {false, true}) {
    Sequential model = line(3);
    model.compile({.optimizer = SGD({.learning_rate = 0}), .loss = "mse"});
    const Trainer trainer({.max_epochs = 1,
                           .precision = "16-mixed",
                           .enable_progress_bar = false,
                           .eager = eager,
                           .loss_scale = {{.initial_scale = 1024}}});
    BOOST_TEST(trainer.fit(model, DataLoader(pairs({1}, {1}))).history.at("loss").at(0) == 4);
  }
}

BOOST_AUTO_TEST_CASE(a_fixed_scale_stays_and_steps_that_overflow_are_skipped_still) {
  const CapturedOutput captured;
  const SGD optimizer({.learning_rate = 1e-9});
  Sequential model = line(1);
  model.compile({.optimizer = optimizer, .loss = "mse"});
  const Trainer trainer({.max_epochs = 1,
                         .precision = "16-mixed",
                         .enable_progress_bar = false,
                         .loss_scale = {{.dynamic = false, .initial_scale = 64}}});
  trainer.fit(model, DataLoader(pairs({1, 1000, 1}, {0, 0, 0}), {.batch_size = 1}));
  BOOST_TEST(scale_of(optimizer) == 64);
  BOOST_TEST(optimizer.state()->loss_scale.skipped() == 1);
  BOOST_TEST(optimizer.iterations() == 2);
  BOOST_TEST(captured.text().find("step 1 was skipped") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
