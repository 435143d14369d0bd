#include <boost/test/unit_test.hpp>

#include <algorithm>

#include <mezzo/optimizers/exponential_decay.hpp>

#include "small.hpp"
#include "support/layers.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using boost::test_tools::tolerance;

namespace {

const std::vector<double> xs{1, 2, 3, 4, 5}, ys{2, 3, 7, 7, 12};

DataLoader data() { return DataLoader(pairs(xs, ys), {.batch_size = 2}); }

class Line : public Module {
 public:
  explicit Line(double rate) : Module("Line"), rate_(rate) {}
  Value training_step(const Batch& batch) override {
    ++*traces;
    const Value prediction = line_(batch["x"]);
    log("error", mean_absolute_error(batch["y"], prediction), {.prog_bar = true});
    log("twice", prediction * 2);
    return mean_squared_error(batch["y"], prediction);
  }
  void validation_step(const Batch& batch) override {
    log("val_error", mean_absolute_error(batch["y"], line_(batch["x"])));
    log("twice", line_(batch["x"]) * 2);
  }
  OptimizerConfigs configure_optimizers() override {
    return {{.optimizer = SGD({.learning_rate = ExponentialDecay(
                                   {.initial_learning_rate = rate_, .decay_steps = 1, .decay_rate = 0.5})})}};
  }
  std::shared_ptr<int> traces = std::make_shared<int>(0);

 protected:
  Value call(const Value& x) override { return line_(x); }

 private:
  double rate_;
  Dense line_ = sub("line", Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(0.5)}));
};

/// Overrides test_step.
class Tested : public Line {
 public:
  Tested() : Line(0) {}
  void test_step(const Batch& batch) override { log("test_mean", batch["y"]); }
};

/// Returns one number per sample (0) or their mean (1), or logs a loss of its own (2).
class Returns : public Module {
 public:
  explicit Returns(int what) : Module("Returns"), what_(what) {}
  Value training_step(const Batch& batch) override {
    Value loss = mean_squared_error(batch["y"], line_(batch["x"]));
    if (what_ == 0) return loss;
    if (what_ == 1) return mean(loss);
    log("loss", loss * 3);
    return loss;
  }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD({.learning_rate = 0.01})}}; }

 private:
  int what_;
  Dense line_ = sub("line", Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(0.5)}));
};

History fit(Module& module, TrainerOptions options = {.max_epochs = 1}) {
  options.enable_progress_bar = false;
  return Trainer(options).fit(module, data(), data());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(modules)

BOOST_AUTO_TEST_CASE(it_logs_and_trains_with_its_schedule) {
  Line module(0.01);
  double weight = 0.5;
  double rate = 0.01;
  for (const std::size_t begin : {0U, 2U, 4U}) {
    const auto end = static_cast<std::ptrdiff_t>(std::min<std::size_t>(begin + 2, 5));
    const std::vector<double> x(xs.begin() + static_cast<std::ptrdiff_t>(begin), xs.begin() + end);
    const std::vector<double> y(ys.begin() + static_cast<std::ptrdiff_t>(begin), ys.begin() + end);
    weight = stepped(weight, rate, x, y);
    rate /= 2;
  }
  const History history = fit(module);
  BOOST_TEST(weight_of(module) == weight, tolerance(1e-5));
  BOOST_TEST(history.history.count("error") == 1U);
  BOOST_TEST(history.history.count("loss") == 1U);
  BOOST_TEST(history.history.count("val_error") == 1U);
}

BOOST_AUTO_TEST_CASE(means_are_over_samples_and_names_of_both_phases_apart) {
  Line module(0);
  const History history = fit(module, {.max_epochs = 2});
  BOOST_TEST(history.history.at("twice").size() == 2U);
  BOOST_TEST(history.history.at("twice")[1] == 3.0, tolerance(1e-6));
  BOOST_TEST(history.history.at("val_twice")[1] == 3.0, tolerance(1e-6));
  BOOST_TEST(history.history.at("error")[0] == (1.5 + 2 + 5.5 + 5 + 9.5) / 5, tolerance(1e-6));
  BOOST_TEST(history.history.at("val_error")[0] == history.history.at("error")[0]);
  const Logs logs = Trainer().validate(module, data());
  BOOST_TEST(logs.size() == 2U);
  BOOST_TEST(logs.at("val_error") == history.history.at("val_error")[0]);
}

BOOST_AUTO_TEST_CASE(testing_is_validating_unless_overridden) {
  Line module(0);
  BOOST_TEST(Trainer().test(module, data()).count("val_error") == 1U);
  Tested tested;
  const Logs logs = Trainer().test(tested, data());
  BOOST_TEST(logs.size() == 1U);
  BOOST_TEST(logs.at("test_mean") == 6.2, tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(a_step_is_traced_once_per_shape) {
  Line module(0.01);
  fit(module, {.max_epochs = 4});
  BOOST_TEST(*module.traces == 3);  // to build, for batches of two, for the last batch
}

BOOST_AUTO_TEST_CASE(max_steps_and_max_epochs_both_end_it) {
  const auto steps = [](const TrainerOptions& options) {
    Line module(0.01);
    const History history = fit(module, options);
    return history.epoch.size();
  };
  BOOST_TEST(steps({.max_epochs = 3}) == 3U);
  BOOST_TEST(steps({.max_steps = 4}) == 2U);
  BOOST_TEST(steps({.max_epochs = 1, .max_steps = 4}) == 1U);
  BOOST_TEST(steps({.max_epochs = 0}) == 0U);
  BOOST_TEST(steps({.max_steps = 0}) == 0U);
  Line two(0.01), whole(0.01), part(0.01);
  fit(two, {.max_steps = 2});
  fit(whole, {.max_epochs = 1});
  const DataLoader first(pairs({1, 2, 3, 4}, {2, 3, 7, 7}), {.batch_size = 2});
  Trainer({.max_epochs = 1, .enable_progress_bar = false}).fit(part, first);
  BOOST_TEST(weight_of(two) == weight_of(part));
  BOOST_TEST(weight_of(two) != weight_of(whole));
  BOOST_TEST(refused<ValueError>([] { Trainer({.max_epochs = -2}); }) ==
             "[Trainer] max_epochs must be at least -1; got -2");
  BOOST_TEST(refused<ValueError>([] { Trainer({.max_steps = -2}); }) ==
             "[Trainer] max_steps must be at least -1; got -2");
}

BOOST_AUTO_TEST_CASE(the_mean_is_taken_of_a_loss_per_sample) {
  const Trainer trainer({.max_epochs = 1, .enable_progress_bar = false});
  Returns per_sample(0), scalar(1), logs_loss(2);
  const double loss = trainer.fit(per_sample, data()).history.at("loss").at(0);
  BOOST_TEST(trainer.fit(scalar, data()).history.at("loss").at(0) == loss);
  BOOST_TEST(weight_of(per_sample) == weight_of(scalar));
  BOOST_TEST(trainer.fit(logs_loss, data()).history.at("loss").at(0) == 3 * loss, tolerance(1e-6));
  BOOST_TEST(weight_of(logs_loss) == weight_of(scalar));
}

BOOST_AUTO_TEST_CASE(log_is_the_op_too) {
  class Logarithm : public Module {
   public:
    Logarithm() : Module("Logarithm") {}
    void validation_step(const Batch& batch) override { log("entropy", log(batch["x"])); }
  };
  Logarithm module;
  const DataLoader loader(pairs({1, 1, 1}, {0, 0, 0}), {.batch_size = 2});
  BOOST_TEST(Trainer().validate(module, loader).at("entropy") == 0.0);
}

BOOST_AUTO_TEST_SUITE_END()
