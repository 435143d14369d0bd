#include <boost/test/unit_test.hpp>

#include "small.hpp"
#include "support/layers.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using boost::test_tools::tolerance;

namespace {

constexpr double generator_rate = 0.02, critic_rate = 0.05;

/// A generator g and a critic d. The critic is trained first, on d y = g x, then the generator on g x = d y. With
/// `after` the generator's loss reads the critic's weight after its update, otherwise the one before.
class Gan : public Module {
 public:
  explicit Gan(bool after) : Module("Gan"), after_(after) {}

  Value training_step(const Batch& batch) override {
    const Value fake = generator_(batch["x"]);
    const Value before = critic_(batch["y"]);
    const Value critic_loss = mean_squared_error(stop_gradient(fake), before);
    minimize(critic_loss, optimizer("d"));
    Value generator_loss = mean_squared_error(after_ ? critic_(batch["y"]) : before, fake);
    minimize(generator_loss, optimizer("g"));
    log("critic_loss", critic_loss);
    return generator_loss;
  }

  OptimizerConfigs configure_optimizers() override {
    return {{.optimizer = generator_optimizer, .weights = generator_.weights(), .name = "g"},
            {.optimizer = critic_optimizer, .weights = critic_.weights(), .name = "d"}};
  }

  SGD generator_optimizer{SGDOptions{.learning_rate = generator_rate}};
  SGD critic_optimizer{SGDOptions{.learning_rate = critic_rate}};

 private:
  bool after_;
  Dense generator_ = sub("g", Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(0.5)}));
  Dense critic_ = sub("d", Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(2)}));
};

/// Calls minimize() with the optimizers of the given names.
class Steps : public Module {
 public:
  Steps(OptimizerConfigs configs, std::vector<std::string> names)
      : Module("Steps"), configs_(std::move(configs)), names_(std::move(names)) {}

  Value training_step(const Batch& batch) override {
    Value loss = mean_squared_error(batch["y"], line_(batch["x"]));
    for (const std::string& name : names_) minimize(loss, optimizer(name));
    return loss;
  }
  OptimizerConfigs configure_optimizers() override { return configs_; }

 private:
  OptimizerConfigs configs_;
  std::vector<std::string> names_;
  Dense line_ = sub("line", Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(0.5)}));
};

const std::vector<double> xs{1, 2}, ys{3, 4};

Trainer quiet(bool eager = false) { return Trainer({.max_epochs = 1, .enable_progress_bar = false, .eager = eager}); }

std::string refusal(OptimizerConfigs configs, std::vector<std::string> names) {
  Steps module(std::move(configs), std::move(names));
  return refused<Error>([&] { quiet().fit(module, DataLoader(pairs(xs, ys))); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(two_optimizers)

BOOST_AUTO_TEST_CASE(each_steps_its_own_weights_in_the_order_of_the_calls) {
  for (const bool after : {false, true}) {
    for (const bool eager : {false, true}) {
      Gan gan(after);
      const History history = quiet(eager).fit(gan, DataLoader(pairs(xs, ys)));
      const std::vector<double> fake{0.5 * xs[0], 0.5 * xs[1]};
      const double critic = stepped(2, critic_rate, ys, fake);
      const double judge = after ? critic : 2;
      const double generator = stepped(0.5, generator_rate, xs, {judge * ys[0], judge * ys[1]});
      BOOST_TEST_CONTEXT((after ? "after " : "before ") << (eager ? "eager" : "traced")) {
        BOOST_TEST(gan.weights()[0].value().item() == generator, tolerance(1e-5));
        BOOST_TEST(gan.weights()[1].value().item() == critic, tolerance(1e-5));
        BOOST_TEST(history.history.at("critic_loss").at(0) == squared_error(2, ys, fake), tolerance(1e-5));
        BOOST_TEST(gan.generator_optimizer.iterations() == 1);
        BOOST_TEST(gan.critic_optimizer.iterations() == 1);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(frozen_weights_are_left_out_of_their_optimizer) {
  Gan gan(false);
  gan.weights();
  const DataLoader loader(pairs(xs, ys));
  quiet().fit(gan, loader);
  const auto before = values_of(gan);
  Layer& root = gan;
  BOOST_TEST(paths_of(root) == "g/kernel d/kernel");
  root.set_trainable(false);
  BOOST_TEST(refused<ValueError>([&] { quiet().fit(gan, loader); }) ==
             "[Trainer] the loss must depend on a trainable weight of optimizer \"d\"; got one that depends on none");
  BOOST_TEST(changed_since(before, gan) == "");
}

BOOST_AUTO_TEST_CASE(optimizers_have_to_be_asked_for_and_told_apart) {
  const OptimizerConfig first{.optimizer = SGD(), .name = "first"}, second{.optimizer = SGD(), .name = "second"};
  BOOST_TEST(refusal({first, second}, {}) ==
             "[Trainer] training_step must call minimize(loss, optimizer(name)) if there are several optimizers; got 2 "
             "optimizers and no call");
  BOOST_TEST(refusal({first, second}, {"third"}) ==
             "[Module] unknown optimizer \"third\"; valid names: \"first\", \"second\"");
  BOOST_TEST(refusal({first, first}, {"first"}) == "[Trainer] names of optimizers must differ; got \"first\" twice");
  BOOST_TEST(refusal({first}, {"first", "first"}) ==
             "[Trainer] minimize() of optimizer \"first\": the loss must be computed after the call before, from the "
             "weights that it "
             "has updated; got one that reads \"line/kernel\" before");
  BOOST_TEST(refusal({}, {}) ==
             "[Trainer] configure_optimizers must return an optimizer; got none: override it, or compile() the model");
  BOOST_TEST(refusal({{.optimizer = Any<Optimizer>(), .name = "none"}}, {}) ==
             "[Trainer] configure_optimizers must set every optimizer; got an empty one named \"none\"");
  BOOST_TEST(refusal({first, second}, {"first"}) == "");
}

BOOST_AUTO_TEST_CASE(outside_of_a_step_there_are_none) {
  class Curious : public Module {
   public:
    static void ask() { optimizer("g"); }
    static void tell() { log("x", Value(Tensor({1}))); }
    static void step() { minimize(Value(Tensor({1})), OptimizerHandle(0)); }
  };
  BOOST_TEST(refused<ValueError>(Curious::ask) ==
             "[Module] optimizer() must be called inside a step that a Trainer runs; got a call outside of one");
  BOOST_TEST(refused<ValueError>(Curious::tell) ==
             "[Module] log() must be called inside a step that a Trainer runs; got a call outside of one");
  BOOST_TEST(refused<ValueError>(Curious::step) ==
             "[Module] minimize() must be called inside a step that a Trainer runs; got a call outside of one");
}

BOOST_AUTO_TEST_SUITE_END()
