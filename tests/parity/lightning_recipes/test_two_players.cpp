// Two networks with an optimizer each: see two_players.py.
#include <boost/test/unit_test.hpp>

#include "parity/lightning_recipes/recipes.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// docs: begin
class Forgery : public Module {
 public:
  Value call(const Value& seeds) override { return judge_(forger_(seeds)); }

  // Mean cost of the judge's logits if all samples are genuine, or none.
  Value verdict(const Value& samples, bool genuine) { return mean(softplus(judge_(samples) * (genuine ? -1 : 1))); }

  Value training_step(const Batch& batch) override {
    const Value &samples = batch["samples"], &seeds = batch["seeds"];

    const Value forged = stop_gradient(forger_(seeds));
    const Value judged = verdict(samples, true) + verdict(forged, false);
    minimize(judged, optimizer("judge"));

    const Value fooled = verdict(forger_(seeds), true);
    minimize(fooled, optimizer("forger"));
    log("judged", judged, {.on_step = false, .on_epoch = true});
    log("fooled", fooled, {.on_step = false, .on_epoch = true});
    return fooled;  // shown as "loss"
  }

  OptimizerConfigs configure_optimizers() override {
    return {{.optimizer = SGD(0.1), .weights = forger_.weights(), .name = "forger"},
            {.optimizer = SGD(0.2), .weights = judge_.weights(), .name = "judge"}};
  }

 private:
  Sequential forger_ = sub("forger", Sequential({Dense(8, {.activation = "tanh"}), Dense(4)}));
  Sequential judge_ = sub("judge", Sequential({Dense(8, {.activation = "tanh"}), Dense(1)}));
};
// docs: end

}  // namespace

BOOST_AUTO_TEST_SUITE(two_players)

BOOST_AUTO_TEST_CASE(costs_equal_lightning) {
  const RecipeFolder folder;
  auto expected = recipe("two_players");
  Forgery pair;
  start(pair, expected, {1, 3});
  const Dataset data =
      Dataset::from_tensors({{"samples", uniform_numbers(3, {32, 4})}, {"seeds", uniform_numbers(4, {32, 3})}});
  const History history = Trainer({.max_epochs = 3}).fit(pair, DataLoader(data, {.batch_size = 8}));
  for (const char* name : {"judged", "fooled"}) check_recipe(name, {history[name].back()}, expected[name]);
}

BOOST_AUTO_TEST_SUITE_END()
