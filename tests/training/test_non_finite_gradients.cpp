// Steps with a finite loss and a gradient that isn't finite.
#include <boost/test/unit_test.hpp>

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <limits>

#include <mezzo/training/step/step_runner.hpp>

#include "small.hpp"
#include "support/captured.hpp"
#include "support/layers.hpp"
#include "support/refused.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// Multiplies by the square root of a weight, in a form without a gradient at 0: exp(log(w) / 2).
class Root : public Layer {
 public:
  explicit Root(double initial) : Layer("Root"), initial_(initial) {}
  void assign(double number) const { weight_.assign(Tensor({1}, std::vector<double>{number}).cast(weight_.dtype())); }

 protected:
  void build(const Shape&) override { add_weight(weight_, {.shape = {1}, .initializer = Constant(initial_)}); }
  Value call(const Value& x) override { return x * exp(0.5 * log(weight_)); }

 private:
  double initial_;
  Variable weight_{"number"};
};

/// Policies without loss scaling, and their compute dtypes.
const std::vector<std::pair<std::string, std::string>> unscaled{
    {"float32", "float32"}, {"mixed_bfloat16", "bfloat16"}, {"bfloat16", "bfloat16"}, {"float64", "float64"}};

/// Everything that a step changes: weights, statistics, slots, iterations.
std::map<std::string, Tensor> everything(const Layer& model, const Optimizer& optimizer) {
  auto all = values_of(model);
  for (const auto& slots : optimizer.state()->slots) {
    for (const auto& slot : slots.values) all[slot->name + fmt::to_string(all.size())] = slot->value.copy();
  }
  all["iterations"] = Tensor::scalar(static_cast<double>(optimizer.iterations()), DType::float64);
  return all;
}

void check_equal(const std::map<std::string, Tensor>& before, const std::map<std::string, Tensor>& after) {
  BOOST_TEST(before.size() == after.size());
  for (const auto& entry : before) {
    BOOST_TEST_CONTEXT(entry.first) { BOOST_TEST(after.at(entry.first).equal(entry.second)); }
  }
}

DataLoader samples() {
  return DataLoader(Dataset::from_tensors({{"x", random_tensor({8, 3})}, {"y", Tensor({8, 1}), Role::target}}),
                    {.batch_size = 8});
}

Sequential model_of(const Root& root, const std::string& policy, const Any<Layer>& first = Dense({.units = 4})) {
  return Sequential({first, BatchNormalization(), root, Dense({.units = 1})}, {.dtype = policy});
}

/// Text of the error of a step in which the root's weight is 0. Checks that the step changes nothing, and that training
/// works before and after it.
template <class O>
std::string refusal(const std::string& policy, O optimizer, const DataLoader& loader = samples(),
                    const Any<Layer>& first = Dense({.units = 4})) {
  const Root root(0.25);
  Sequential model = model_of(root, policy, first);
  model.compile({.optimizer = optimizer, .loss = "mse"});
  const auto fit = [&] { model.fit(loader, {.verbose = false}); };
  fit();
  root.assign(0);
  const auto before = everything(model, optimizer);
  const std::string text = refused<ValueError>(fit);
  check_equal(before, everything(model, optimizer));
  root.assign(0.25);
  fit();
  BOOST_TEST(optimizer.iterations() == 2);
  return text;
}

/// The error in a compute dtype. log's gradient divides 0 by 0.
std::string error_in(const std::string& dtype) {
  return "[Trainer] gradients must be finite; got NaN or infinity: \"root\" divide in the backward pass gave the first "
         "value that is not finite (" +
         dtype + "); no weight was changed by this step";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(non_finite_gradients)

BOOST_AUTO_TEST_CASE(are_an_error_in_every_policy_without_loss_scaling) {
  for (const auto& [policy, dtype] : unscaled) {
    BOOST_TEST(refusal(policy, Adam({.learning_rate = 0.01})) == error_in(dtype), policy);
  }
}

BOOST_AUTO_TEST_CASE(are_an_error_in_eager_steps) {
  for (const auto& [policy, dtype] : unscaled) {
    const Root root(0);
    Sequential model = model_of(root, policy);
    model.build({8, 3});
    model.compile({.optimizer = Adam({.learning_rate = 0.01}), .loss = "mse"});
    const auto before = values_of(model);
    const Trainer eager({.max_epochs = 1, .enable_progress_bar = false, .eager = true});
    BOOST_TEST(refused<ValueError>([&] { eager.fit(model, samples()); }) == error_in(dtype), policy);
    BOOST_TEST(changed_since(before, model) == "", policy);
  }
}

// Trials of precision "auto" measure policies that may fail.
BOOST_AUTO_TEST_CASE(are_skipped_by_silent_steps) {
  for (const bool eager : {false, true}) {
    const Root root(0);
    Sequential model = model_of(root, "float32");
    model.build({8, 3});
    model.compile({.optimizer = Adam({.learning_rate = 0.01}), .loss = "mse"});
    const auto before = values_of(model);
    detail::StepRunner runner(model, {.eager = eager, .silent = true});
    runner.configure(false);
    runner.run(Stage::fit, *samples().epoch(0).next());
    BOOST_TEST(runner.skipped());
    BOOST_TEST(changed_since(before, model) == "");
  }
}

BOOST_AUTO_TEST_CASE(are_an_error_with_every_optimizer) {
  BOOST_TEST(refusal("float32", SGD({.learning_rate = 0.01})) == error_in("float32"));
  BOOST_TEST(refusal("float32", SGD({.learning_rate = 0.01, .momentum = 0.9, .clipvalue = 1})) == error_in("float32"));
  BOOST_TEST(refusal("float32", Adam({.learning_rate = 0.01, .clipnorm = 1})) == error_in("float32"));
  BOOST_TEST(refusal("float32", AdamW({.learning_rate = 0.01, .global_clipnorm = 1})) == error_in("float32"));
  BOOST_TEST(refusal("mixed_bfloat16", AdamW({.learning_rate = 0.01, .split_master_weights = true})) ==
             error_in("bfloat16"));
  BOOST_TEST(refusal("bfloat16", AdamW({.learning_rate = 0.01, .kahan_summation = true})) == error_in("bfloat16"));
}

BOOST_AUTO_TEST_CASE(leave_a_table_with_a_compact_gradient_alone) {
  const Dataset words = Dataset::from_tensors(
      {{"x", random_tensor({8, 3}, DType::int32, 1, 0, 50)}, {"y", Tensor({8, 3, 1}), Role::target}});
  BOOST_TEST(refusal("float32", Adam({.learning_rate = 0.01}), DataLoader(words, {.batch_size = 8}),
                     Embedding({.input_dim = 50, .output_dim = 4})) == error_in("float32"));
}

// The loss is finite for the first optimizer, whose update comes first.
BOOST_AUTO_TEST_CASE(stop_all_optimizers_of_the_step) {
  class Two : public Module {
   public:
    Two() : Module("Two") {}
    Value training_step(const Batch& batch) override {
      minimize(mean_squared_error(batch["y"], good_(batch["x"])), optimizer("good"));
      const Value loss = mean_squared_error(batch["y"], root(bad_(batch["x"])));
      minimize(loss, optimizer("bad"));
      return loss;
    }
    OptimizerConfigs configure_optimizers() override {
      return {{.optimizer = SGD({.learning_rate = 0.1}), .weights = good_.weights(), .name = "good"},
              {.optimizer = SGD({.learning_rate = 0.1}), .weights = root.weights(), .name = "bad"}};
    }

    Root root = sub("root", Root(0.25));

   private:
    Dense good_ = sub("good", Dense({.units = 1})), bad_ = sub("bad", Dense({.units = 1}));
  };
  Two module;
  const Trainer trainer({.max_epochs = 1, .enable_progress_bar = false});
  trainer.fit(module, samples());
  module.root.assign(0);
  const auto before = values_of(module);
  BOOST_TEST(refused<ValueError>([&] { trainer.fit(module, samples()); }) == error_in("float32"));
  BOOST_TEST(changed_since(before, module) == "");
}

BOOST_AUTO_TEST_CASE(are_skipped_under_loss_scaling) {
  const Root root(0);
  Sequential model = model_of(root, "mixed_float16");
  model.build({8, 3});
  model.compile({.optimizer = Adam({.learning_rate = 0.01}), .loss = "mse"});
  const auto before = values_of(model);
  const CapturedOutput captured;
  const History history = Trainer({.max_epochs = 2, .enable_progress_bar = false}).fit(model, samples());
  BOOST_TEST(history.history.at("skipped_steps") == (std::vector<double>{1, 1}));
  BOOST_TEST(changed_since(before, model) == "");
}

BOOST_AUTO_TEST_CASE(squares_that_overflow_change_nothing) {
  const std::vector<std::pair<std::function<Any<Optimizer>(double)>, const char*>> optimizers{
      {[](double clip) { return Adam({.clipnorm = clip}); }, "9.2e+18"},
      {[](double clip) { return Adam({.amsgrad = true, .clipvalue = clip}); }, "9.2e+18"},
      {[](double clip) { return AdamW({.global_clipnorm = clip}); }, "9.2e+18"},
      {[](double clip) { return Nadam({.clipnorm = clip}); }, "9.2e+18"},
      {[](double clip) { return Lamb({.clipnorm = clip}); }, "9.2e+18"},
      {[](double clip) { return RMSprop({.clipnorm = clip}); }, "9.2e+18"},
      {[](double clip) { return Adadelta({.clipnorm = clip}); }, "9.2e+18"},
      {[](double clip) { return ScheduleFreeAdamW({.clipnorm = clip}); }, "9.2e+18"},
      {[](double clip) { return Adafactor({.clipnorm = clip}); }, "1.8e+16"},
      {[](double clip) { return Adagrad({.clipnorm = clip}); }, "1.8e+16"},
      {[](double clip) { return Ftrl({.clipnorm = clip}); }, "1.8e+16"}};
  const auto weight_after = [](const Any<Optimizer>& optimizer, bool eager, std::string& error) {
    Sequential model = line(1);
    model.compile({.optimizer = optimizer, .loss = [](const Value&, const Value& y_pred) { return y_pred * 1e20; }});
    const Trainer trainer({.max_epochs = 1, .enable_progress_bar = false, .eager = eager});
    error = refused<ValueError>([&] { trainer.fit(model, DataLoader(pairs({1}, {0}))); });
    return weight_of(model);
  };
  std::string error;
  for (const auto& [make, bound] : optimizers) {
    for (const bool eager : {false, true}) {
      BOOST_TEST(weight_after(make(0), eager, error) == 1);
      BOOST_TEST(error == fmt::format("[Trainer] gradients must be finite when the optimizer squares them; got a "
                                      "magnitude of {} or more; no weight was changed by this step",
                                      bound));
      const double clipped = weight_after(make(1), eager, error);
      BOOST_TEST(error == "");
      BOOST_TEST(std::isfinite(clipped));
      BOOST_TEST(clipped != 1);
    }
  }
  BOOST_TEST(weight_after(SGD({.learning_rate = 1e-20}), false, error) == 0, boost::test_tools::tolerance(1e-6));

  // An optimizer of a user says it for its rule, by whatever names its slots have.
  class Scaled : public SGD {
   public:
    explicit Scaled(Squares squares) : SGD({.learning_rate = 1e-20}), squares_(squares) {}
    Squares squares() const override { return squares_; }

   private:
    Squares squares_;
  };
  BOOST_TEST(weight_after(Scaled(Optimizer::Squares::none), false, error) == 0, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(weight_after(Scaled(Optimizer::Squares::averages), false, error) == 1);
  BOOST_TEST(error.find("9.2e+18") != std::string::npos);
  BOOST_TEST(weight_after(Scaled(Optimizer::Squares::sums), false, error) == 1);
  BOOST_TEST(error.find("1.8e+16") != std::string::npos);

  const Variable weight("w");
  weight.assign(Tensor({1}, std::vector<float>{1}));
  BOOST_TEST(refused<ValueError>([&] { Adam().apply({Tensor({1}, std::vector<float>{1e20F})}, {weight}); }) ==
             "[Adam] apply: the gradient of variable \"w\" must be finite when it is squared; got a magnitude of "
             "9.2e+18 or more");
  BOOST_TEST(weight.value().item() == 1);
}

BOOST_AUTO_TEST_CASE(learning_rates_that_are_not_finite_are_errors_of_the_update) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto fit = [](Model& model) {
    return refused<ValueError>([&] {
      model.fit(DataLoader(pairs({1, 1}, {0, 0}), {.batch_size = 1}), {.verbose = false});
    });
  };
  const std::string text = "[SGD] learning_rate must be finite; got ";
  BOOST_TEST(refused<ValueError>([&] { SGD({.learning_rate = infinity}); }) == text + "inf");
  for (const double bad : {infinity, std::nan("")}) {
    Sequential other = line(1);
    const auto by_step = [=](std::int64_t step) { return step == 0 ? 0.25 : bad; };
    other.compile({.optimizer = SGD({.learning_rate = by_step}), .loss = "mse"});
    BOOST_TEST(fit(other) == fmt::format("{}{} for update 2", text, bad));
    BOOST_TEST(weight_of(other) == 0.5);
  }
  const Variable weight("w");
  weight.assign(Tensor({1}, std::vector<float>{1}));
  const auto never = [=](std::int64_t step) { return step == 0 ? 0 : infinity; };
  SGD sgd({.learning_rate = never});
  sgd.apply({weight.value()}, {weight});
  BOOST_TEST(refused<ValueError>([&] { sgd.apply({weight.value()}, {weight}); }) == text + "inf for update 2");
  BOOST_TEST(weight.value().item() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
