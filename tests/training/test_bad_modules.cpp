#include <boost/test/unit_test.hpp>

#include <functional>

#include "small.hpp"
#include "support/layers.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// A module with a training step given by the test.
class Custom : public Module {
 public:
  using Step = std::function<Value(Custom&, const Batch&)>;
  explicit Custom(Step step) : Module("Custom"), step_(std::move(step)) {}

  Value training_step(const Batch& batch) override { return step_(*this, batch); }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD({.learning_rate = 0.01})}}; }

  Value loss(const Batch& batch) { return mean_squared_error(batch["y"], line_(batch["x"])); }
  static void tell(const std::string& name, const Value& value) { log(name, value); }
  static void say(double number) { log("constant", number); }

 private:
  Step step_;
  Dense line_ = sub("line", Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(0.5)}));
};

/// A module without any override.
class Bare : public Module {
 public:
  Bare() : Module("Bare") {}

 private:
  Dense line_ = sub("line", Dense({.units = 1}));
};

DataLoader data() { return DataLoader(pairs({1, 2}, {3, 4})); }

Trainer quiet(bool eager = false) { return Trainer({.max_epochs = 1, .enable_progress_bar = false, .eager = eager}); }

/// Text of the error of a step. Checks that plans and eager steps throw the same and that the weight doesn't change.
std::string refusal(const Custom::Step& step) {
  std::string text;
  for (const bool eager : {false, true}) {
    Custom module(step);
    text = refused<Error>([&] { quiet(eager).fit(module, data()); });
    if (!module.weights().empty()) BOOST_TEST(weight_of(module) == 0.5);
    if (!eager) continue;
    Custom traced(step);
    BOOST_TEST(refused<Error>([&] { quiet().fit(traced, data()); }) == text);
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(bad_modules)

BOOST_AUTO_TEST_CASE(a_number_that_would_be_frozen_is_not_logged) {
  BOOST_TEST(
      refusal([](Custom& self, const Batch& batch) {
        Custom::say(3.0);
        return self.loss(batch);
      }) ==
      "[Module] log(\"constant\", ...): the value must be computed by the step; got a constant, which the trace would "
      "freeze");
  BOOST_TEST(
      refusal([](Custom& self, const Batch& batch) {
        Custom::tell("array", Tensor({2}));
        return self.loss(batch);
      }) ==
      "[Module] log(\"array\", ...): the value must be computed by the step; got a constant, which the trace would "
      "freeze");
}

BOOST_AUTO_TEST_CASE(a_name_is_logged_once) {
  BOOST_TEST(refusal([](Custom& self, const Batch& batch) {
               Custom::tell("x", batch["x"]);
               Custom::tell("x", batch["y"]);
               return self.loss(batch);
             }) == "[Module] log: names must differ within a step; got \"x\" twice");
}

BOOST_AUTO_TEST_CASE(fields_that_are_not_there) {
  BOOST_TEST(refusal([](Custom&, const Batch& batch) { return batch["lable"]; }) ==
             "[Batch] unknown field \"lable\"; valid names: x, y");
}

BOOST_AUTO_TEST_CASE(losses_that_train_nothing) {
  const std::string nothing = "[Trainer] the loss must depend on a trainable weight; got one that depends on none";
  BOOST_TEST(refusal([](Custom&, const Batch& batch) { return batch["x"]; }) == nothing);
  BOOST_TEST(refusal([](Custom& self, const Batch& batch) { return stop_gradient(self.loss(batch)); }) == nothing);
  BOOST_TEST(refusal([](Custom&, const Batch&) { return Value(1.0); }) == nothing);
  BOOST_TEST(refusal([](Custom&, const Batch&) { return Value(); }) != "");
}

BOOST_AUTO_TEST_CASE(numbers_that_are_not_there_yet) {
  const Custom::Step step = [](Custom& self, const Batch& batch) {
    const Value loss = self.loss(batch);
    return loss * mean(loss).item();
  };
  Custom module(step);
  const std::string text = refused<ValueError>([&] { quiet().fit(module, data()); });
  BOOST_TEST(text ==
             "[Custom] a symbolic Value (output of mean) has no numbers while the step is traced: log() it, or return "
             "it");
}

BOOST_AUTO_TEST_CASE(steps_that_were_not_written) {
  Bare bare;
  BOOST_TEST(refused<ValueError>([&] { quiet().fit(bare, data()); }) ==
             "[Bare] training_step must be overridden, or the module be a compiled Model; got neither");
  BOOST_TEST(refused<ValueError>([&] { quiet().validate(bare, data()); }) ==
             "[Bare] validation_step must be overridden; got the default of Module");
  Custom module([](Custom& self, const Batch& batch) { return self.loss(batch); });
  BOOST_TEST(refused<ValueError>([&] { quiet().fit(module, data(), data()); }) ==
             "[Custom] validation_step must be overridden; got the default of Module");
  BOOST_TEST(weight_of(module) == 0.5);
}

BOOST_AUTO_TEST_CASE(a_module_that_runs_already) {
  Custom* self_of_step = nullptr;
  Custom module([&](Custom& self, const Batch& batch) {
    quiet().predict(*self_of_step, data());
    return self.loss(batch);
  });
  self_of_step = &module;
  BOOST_TEST(refused<ValueError>([&] { quiet().fit(module, data()); }) ==
             "[Trainer] the model must be idle; got a call while another thread or step runs it: wait for its end, "
             "call it in a callback, or predict by model.predictor()");
  Sequential helper = line(2);
  Custom other([&](Custom& self, const Batch& batch) {
    BOOST_TEST(helper.predict(column({3})).item() == 6);
    return self.loss(batch);
  });
  quiet().fit(other, data());
  BOOST_TEST(weight_of(other) != 0.5);
}

BOOST_AUTO_TEST_CASE(a_loss_is_one_number_or_one_per_sample) {
  const auto scaled = [](const Tensor& factors) {
    return [factors](Custom& module, const Batch& batch) { return module.loss(batch) * 0 + factors; };
  };
  const std::string must =
      "[Trainer] training_step must return a loss of one number, (), or of one per sample, (2,); got ";
  BOOST_TEST(refusal([](Custom& module, const Batch& batch) {
               return concatenate({batch["x"], batch["x"]}, 1) * expand_dims(module.loss(batch), -1);
             }) == must + "shape (2, 2): take its mean() or sum()");
  BOOST_TEST(refusal(scaled(Tensor({3, 2}))) == must + "shape (3, 2): take its mean() or sum()");
  BOOST_TEST(refusal([](Custom& module, const Batch& batch) {
               return concatenate({module.loss(batch), module.loss(batch)}, 0);
             }) == must + "shape (4,): take its mean() or sum()");
  for (const bool mean_of : {false, true}) {
    Custom module(
        [mean_of](Custom& self, const Batch& batch) { return mean_of ? mean(self.loss(batch)) : self.loss(batch); });
    quiet().fit(module, data());
    BOOST_TEST(weight_of(module) != 0.5);
  }
}

BOOST_AUTO_TEST_CASE(numbers_of_the_session_are_frozen_in_steps) {
  struct Keeping : Callback {
    const Session& kept() const { return session(); }
  };
  const auto refusal_of = [](const std::function<void(const Session&)>& read) {
    const auto callback = std::make_shared<Keeping>();
    Custom module([&](Custom& self, const Batch& batch) {
      read(callback->kept());
      return self.loss(batch);
    });
    const Trainer trainer({.max_epochs = 1, .callbacks = {callback}, .enable_progress_bar = false});
    return refused<ValueError>([&] { trainer.fit(module, data()); });
  };
  const std::string frozen =
      " is a number of C++, which the trace of a step would freeze; got a call inside of a step: use the Value ";
  BOOST_TEST(refusal_of([](const Session& session) { session.global_step(); }) ==
             "[Module] global_step()" + frozen + "step()");
  BOOST_TEST(refusal_of([](const Session& session) { session.current_epoch(); }) ==
             "[Module] current_epoch()" + frozen + "epoch()");
  BOOST_TEST(refusal_of([](const Session& session) { session.current_batch(); }) ==
             "[Module] current_batch()" + frozen + "batch_idx()");
}

BOOST_AUTO_TEST_CASE(an_optimizer_trains_one_model) {
  const Adam adam;
  Sequential first = line(0.5), second = line(0.5);
  first.compile({.optimizer = adam, .loss = "mse"});
  second.compile({.optimizer = adam, .loss = "mse"});
  const auto fit = [](Model& model) { model.fit(column({1, 2}), column({3, 4}), {.verbose = false}); };
  fit(first);
  BOOST_TEST(refused<ValueError>([&] { fit(second); }) ==
             "[Adam] an optimizer trains one model; got a second one: make a new optimizer for it");
  fit(first);
  first.compile({.optimizer = adam, .loss = "mse"});
  fit(first);
  Sequential copy = clone(first);
  fit(copy);
  second.compile({.optimizer = Adam(), .loss = "mse"});
  fit(second);
  BOOST_TEST(adam.iterations() == 3);

  // The owner is a part of the state that copies share and that a clone doesn't take over.
  BOOST_TEST(adam.state()->owner->lock() == first.state().pointer());
  BOOST_TEST((Adam(adam).state()->owner->lock() == first.state().pointer()));
  Adam other = adam;
  {
    const detail::CloneScope cloning;
    BOOST_TEST(!detail::Shared<Optimizer::State>(adam.state())->owner.has_value());
  }
  other.reset();
  BOOST_TEST(!adam.state()->owner.has_value());
}

BOOST_AUTO_TEST_SUITE_END()
