#include <boost/test/unit_test.hpp>

#include <cmath>

#include <mezzo/training/step/step_runner.hpp>

#include "small.hpp"

using namespace mezzo;
using detail::StepRunner;

namespace {

/// Logs the outputs of dropout layers. The Dense layer only gives the module a weight to train.
class Leaky : public Module {
 public:
  Leaky() : Module("Leaky") {}
  Value training_step(const Batch& batch) override {
    log("first", first_(batch["x"]));
    log("again", first_(batch["x"]));
    log("second", second_(batch["x"]));
    return mean_squared_error(batch["y"], line_(batch["y"]));
  }
  void validation_step(const Batch& batch) override { log("first", first_(batch["x"])); }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD({.learning_rate = 0})}}; }

 private:
  Dropout first_ = sub("first", Dropout({.rate = 0.5}));
  Dropout second_ = sub("second", Dropout({.rate = 0.5}));
  Dense line_ = sub("line", Dense({.units = 1}));
};

/// Powers of two, so that the mean identifies the elements that were dropped.
HostBatch powers() {
  std::vector<double> x(40);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::ldexp(1.0, static_cast<int>(i));
  return {{{"x", Tensor({1, 40}, x)}, {"y", Tensor({1, 1}), Role::target}}, 1};
}

std::vector<std::vector<double>> run(std::uint64_t seed, bool eager, int steps = 3) {
  seed_everything(seed);
  Leaky module;
  StepRunner runner(module, {.policy = "float64", .eager = eager});
  const HostBatch batch = powers();
  runner.rehearse(Stage::fit, batch);
  runner.configure(false);
  std::vector<std::vector<double>> out;
  for (int i = 0; i < steps; ++i) {
    runner.run(Stage::fit, batch);
    out.push_back({runner.value(0), runner.value(1), runner.value(2)});
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(dropout_steps)

BOOST_AUTO_TEST_CASE(what_is_dropped_differs_by_step_call_and_layer) {
  const auto values = run(1, false);
  BOOST_TEST(values[0][0] != values[1][0]);
  BOOST_TEST(values[1][0] != values[2][0]);
  BOOST_TEST(values[0][0] != values[0][1]);
  BOOST_TEST(values[0][0] != values[0][2]);
}

BOOST_AUTO_TEST_CASE(it_is_the_same_after_seeding_again_and_another_for_another_seed) {
  const auto values = run(1, false);
  BOOST_TEST((run(1, false) == values));
  BOOST_TEST((run(1, true) == values));
  BOOST_TEST((run(2, false) != values));
}

BOOST_AUTO_TEST_CASE(validation_drops_nothing) {
  Leaky module;
  const Dataset data = Dataset::from_tensors(powers().fields);
  const double mean = Trainer({.precision = 64}).validate(module, DataLoader(data)).at("first");
  BOOST_TEST(mean == (std::ldexp(1.0, 40) - 1) / 40);
}

BOOST_AUTO_TEST_SUITE_END()
