// Reports of the layer and op that gave the first non-finite value.
#include <boost/test/unit_test.hpp>

#include <fmt/format.h>

#include <cmath>

#include <mezzo/training/step/step_runner.hpp>

#include "small.hpp"
#include "support/captured.hpp"
#include "support/layers.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// Two Dense layers with one weight of 1, and between them a layer that multiplies by `gain`.
Sequential chain(double gain, const char* middle = "") {
  const auto unit = [](const char* name) {
    return Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(1), .name = name});
  };
  Sequential inner({unit("first"), Scale({.initial = gain, .name = "gain", .dtype = middle})}, {.name = "backbone"});
  Sequential model({inner, unit("head")});
  model.build({1, 1});
  model.compile({.optimizer = SGD({.learning_rate = 1e-6}), .loss = "mse"});
  return model;
}

Trainer trainer_of(int epochs, bool eager, const std::optional<LossScaleOptions>& scale) {
  return Trainer({.max_epochs = epochs,
                  .precision = "16-mixed",
                  .enable_progress_bar = false,
                  .eager = eager,
                  .loss_scale = scale});
}

/// Warnings of a training with one sample per step, without the first `mezzo: warning: [Trainer] `. Checks that plans
/// and eager steps write the same.
std::string told_of(const Sequential& original, const std::vector<double>& xs, const LossScaleOptions& scale) {
  std::string texts[2];
  for (const bool eager : {false, true}) {
    Sequential model = clone(original);
    const CapturedOutput captured;
    trainer_of(1, eager, scale).fit(model, DataLoader(pairs(xs, std::vector<double>(xs.size(), 0)), {.batch_size = 1}));
    texts[eager ? 1 : 0] = captured.text();
  }
  BOOST_TEST(texts[0] == texts[1]);
  const std::string start = "mezzo: warning: [Trainer] ";
  return texts[0].rfind(start, 0) == 0 ? texts[0].substr(start.size()) : texts[0];
}

const LossScaleOptions one{.initial_scale = 1};

/// Softmax over scores, one of which a mask sets to -inf in each row.
class Masked : public Layer {
 public:
  Masked() : Layer("Masked") {}

 protected:
  Value call(const Value& x) override {
    const Value hidden = where(equal(x, x), x * 0 - Value(HUGE_VAL), x);
    return softmax(concat({hidden, x})) * x;
  }
};

/// Multiplies by a variable that is readable from outside.
class Gain : public Layer {
 public:
  Gain() : Layer("Gain") {}
  Value gain() const { return gain_; }

 protected:
  void build(const Shape&) override { add_weight(gain_, {.initializer = Constant(HUGE_VAL)}); }
  Value call(const Value& x) override { return x * gain_; }

 private:
  Variable gain_{"number"};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(overflow_reports)

BOOST_AUTO_TEST_CASE(an_overflow_in_a_chosen_layer_is_skipped_halved_logged_and_named) {
  // 1000 * 100 exceeds the largest float16, 65504; 1000 * 1e-3 doesn't.
  BOOST_TEST(told_of(chain(1000), {100, 1e-3, 1e-3}, {.initial_scale = 64}) ==
             "step 0 was skipped: \"backbone/gain\" multiply gave the first value that is not finite (float16); loss "
             "scale 64 -> 32\n");
}

BOOST_AUTO_TEST_CASE(in_the_backward_pass_the_op_is_the_gradients) {
  // The cotangent of the output of head is 2 * 8 * 1024 = 16384, and that of the input of gain 8 times that.
  BOOST_TEST(told_of(chain(8), {1}, {.initial_scale = 1024}) ==
             "step 0 was skipped: \"backbone/gain\" multiply in the backward pass gave the first value that is not "
             "finite (float16); loss scale 1024 -> 512\n");
  // The loss is computed in float32; its gradient overflows where it is cast to the dtype of the last layer.
  BOOST_TEST(told_of(chain(8), {1}, {.initial_scale = 65536}) ==
             "step 0 was skipped: cast in the backward pass into \"head\" gave the first value that is not finite "
             "(float16); loss scale 65536 -> 32768\n");
}

BOOST_AUTO_TEST_CASE(a_forward_pass_through_updated_weights_is_none_of_the_backward_pass) {
  class After : public Module {
   public:
    After() : Module("After") {}
    Value training_step(const Batch& batch) override {
      minimize(mean_squared_error(batch["y"], line_(batch["x"])), optimizer("line"));
      Value loss = mean_squared_error(batch["y"], gain_(line_(batch["x"])));
      minimize(loss, optimizer("gain"));
      return loss;
    }
    OptimizerConfigs configure_optimizers() override {
      return {{.optimizer = SGD(), .weights = line_.weights(), .name = "line"},
              {.optimizer = SGD(), .weights = gain_.weights(), .name = "gain"}};
    }

   private:
    Dense line_ = sub("line", Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(1)}));
    Scale gain_ = sub("gain", Scale({.initial = 6e4}));
  };
  for (const bool eager : {false, true}) {
    After module;
    const CapturedOutput captured;
    trainer_of(1, eager, one).fit(module, DataLoader(pairs({2}, {0})));
    BOOST_TEST(captured.text() ==
               "mezzo: warning: [Trainer] step 0 of optimizer \"gain\" was skipped: \"gain\" multiply gave the first "
               "value that is not finite (float16); loss scale 1 -> 0.5\n");
  }
}

BOOST_AUTO_TEST_CASE(it_is_found_behind_fused_ops_and_views) {
  for (const bool eager : {false, true}) {
    const Sequential backbone({Conv2D({.filters = 2,
                                       .kernel_size = 3,
                                       .activation = "relu",
                                       .kernel_initializer = Constant(1e4),
                                       .name = "conv1"})},
                              {.name = "backbone"});
    Sequential model({backbone, Flatten(), Dense({.units = 1})});
    model.compile({.optimizer = SGD(), .loss = "mse"});
    const Dataset data = Dataset::from_tensors(
        {{"x", Tensor({1, 4, 4, 1}, std::vector<float>(16, 1))}, {"y", column({0}), Role::target}});
    const CapturedOutput captured;
    trainer_of(1, eager, one).fit(model, DataLoader(data));
    BOOST_TEST(captured.text() ==
               "mezzo: warning: [Trainer] step 0 was skipped: \"backbone/conv1\" conv2d gave the first value that is "
               "not finite (float16); loss scale 1 -> 0.5\n");
  }
}

BOOST_AUTO_TEST_CASE(one_layer_in_float16_is_enough) {
  const auto told = [](const char* policy) {
    Sequential model = chain(1000, policy);
    const CapturedOutput captured;
    model.fit(column({100}), column({0}), {.verbose = false});
    return captured.text();
  };
  BOOST_TEST(told("mixed_float16") ==
             "mezzo: warning: [Trainer] step 0 was skipped: \"backbone/gain\" multiply gave the first value that is "
             "not finite (float16); loss scale 65536 -> 32768\n");
  BOOST_TEST(told("float32") == "");
}

BOOST_AUTO_TEST_CASE(inputs_and_weights_that_are_not_finite_are_named_themselves) {
  BOOST_TEST(told_of(chain(1), {std::nan("")}, one) ==
             "step 0 was skipped: input \"x\" holds a value that is not finite (float32); loss scale 1 -> 0.5\n");
  const Sequential nan_weight = chain(1);
  nan_weight.weights()[2].assign(Tensor({1, 1}, std::vector<float>{std::nanf("")}));
  BOOST_TEST(told_of(nan_weight, {1}, one) ==
             "step 0 was skipped: variable \"head/kernel\" holds a value that is not finite (float32); loss scale 1 -> "
             "0.5\n");
  const Sequential wide_weight = chain(1);
  wide_weight.weights()[2].assign(Tensor({1, 1}, std::vector<float>{1e5F}));
  BOOST_TEST(told_of(wide_weight, {1}, one) ==
             "step 0 was skipped: \"head\" cast gave the first value that is not finite (float16); loss scale 1 -> "
             "0.5\n");
}

BOOST_AUTO_TEST_CASE(a_weight_that_is_reported_too_is_named_where_it_is_computed_with) {
  class Reporting : public Module {
   public:
    Reporting() : Module("Reporting") {}
    Value training_step(const Batch& batch) override {
      const Value prediction = gain_(batch["x"]);
      log("number", gain_.gain());
      return mean_squared_error(batch["y"], prediction);
    }
    OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD()}}; }

   private:
    Gain gain_ = sub("gain", Gain());
  };
  for (const bool eager : {false, true}) {
    Reporting module;
    const CapturedOutput captured;
    Trainer({.max_epochs = 1, .precision = "16-true", .enable_progress_bar = false, .eager = eager})
        .fit(module, DataLoader(pairs({1}, {1})));
    BOOST_TEST(
        captured.text() ==
        "mezzo: warning: [Trainer] step 0 was skipped: variable \"gain/number\" holds a value that is not finite "
        "(float16); loss scale 65536 -> 32768\n");
  }
}

BOOST_AUTO_TEST_CASE(an_infinity_that_goes_no_further_is_not_the_cause) {
  Sequential model({Masked(), Scale({.initial = 1000, .name = "gain"}), Dense({.units = 1, .use_bias = false})});
  model.build({1, 1});
  model.compile({.optimizer = SGD({.learning_rate = 1e-6}), .loss = "mse"});
  BOOST_TEST(told_of(model, {100}, one) ==
             "step 0 was skipped: \"gain\" multiply gave the first value that is not finite (float16); loss scale 1 -> "
             "0.5\n");
}

BOOST_AUTO_TEST_CASE(not_every_skip_is_told_of) {
  Sequential model = chain(1000);
  const CapturedOutput captured;
  trainer_of(40, false, LossScaleOptions{.dynamic = false, .initial_scale = 4})
      .fit(model, DataLoader(pairs({100}, {0})));
  std::string expected;
  for (const int step : {0, 1, 2, 3, 7, 15, 31}) {
    expected +=
        "mezzo: warning: [Trainer] step " + fmt::to_string(step) +
        " was skipped: \"backbone/gain\" multiply gave the first value that is not finite (float16); loss scale "
        "4 is fixed\n";
  }
  BOOST_TEST(captured.text() == expected);
}

BOOST_AUTO_TEST_CASE(at_the_smallest_scale_training_stops_and_says_where) {
  for (const bool eager : {false, true}) {
    Sequential model = chain(1000);
    const auto before = values_of(model);
    const CapturedOutput captured;
    const Trainer trainer = trainer_of(100, eager, LossScaleOptions{.initial_scale = 8, .floor = 0.25});
    BOOST_TEST(refused<ValueError>([&] { trainer.fit(model, DataLoader(pairs({100}, {0}))); }) ==
               "[Trainer] loss and gradients of step 5 must be finite at the smallest loss scale, 0.25; got: "
               "\"backbone/gain\" multiply gave the first value that is not finite (float16)");
    BOOST_TEST(changed_since(before, model) == "");
  }
}

BOOST_AUTO_TEST_CASE(looking_for_it_leaves_the_rest_of_the_step_as_it_was) {
  // Dropout and a second optimizer with finite gradients: its update must not depend on the warning about the first.
  class Both : public Module {
   public:
    Both() : Module("Both") {}
    Value training_step(const Batch& batch) override {
      const Value x = drop_(batch["x"]);
      Value fine = mean_squared_error(batch["y"], fine_(x));
      minimize(mean_squared_error(batch["y"], wide_(x * 1000)), optimizer("wide"));
      minimize(fine, optimizer("fine"));
      return fine;
    }
    OptimizerConfigs configure_optimizers() override {
      return {{.optimizer = wide, .weights = wide_.weights(), .name = "wide"},
              {.optimizer = SGD({.learning_rate = 1e-3}),
               .weights = fine_.weights(),
               .name = "fine",
               .loss_scale = LossScaleOptions{.initial_scale = 1}}};
    }
    SGD wide;

   private:
    Dropout drop_ = sub("drop", Dropout({.rate = 0.5}));
    Dense fine_ = sub("fine", Dense({.units = 1, .kernel_initializer = Constant(1)}));
    Dense wide_ = sub("wide", Dense({.units = 1, .kernel_initializer = Constant(1)}));
  };
  const DataLoader loader(
      Dataset::from_tensors({{"x", Tensor({2, 8}, std::vector<float>(16, 60))}, {"y", column({0, 0}), Role::target}}));
  const auto trained = [&](std::int64_t skipped) {
    Both module;
    detail::StepRunner runner(module, {.policy = "mixed_float16"});
    const HostBatch batch = *loader.epoch(0).next();
    runner.rehearse(Stage::fit, batch);
    runner.configure(true);
    module.wide.state()->loss_scale.set_state({1, 0, skipped});
    const CapturedOutput captured;
    runner.run(Stage::fit, batch);
    BOOST_TEST(runner.skipped());
    BOOST_TEST(captured.text().empty() == (skipped == 4));  // skip 1 causes a warning, skip 5 doesn't
    return values_of(module);
  };
  const auto told = trained(0), silent = trained(4);
  for (const auto& entry : told) BOOST_TEST(entry.second.equal(silent.at(entry.first)));
  BOOST_TEST(!told.at("fine/kernel").equal(Tensor({8, 1}, std::vector<float>(8, 1))));
}

BOOST_AUTO_TEST_SUITE_END()
