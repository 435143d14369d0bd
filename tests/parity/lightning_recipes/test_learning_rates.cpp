// Learning rate schedules, and the callback that logs the rates: see learning_rates.py.
#include <boost/test/unit_test.hpp>

#include "parity/lightning_recipes/recipes.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// docs: begin
class Scheduled : public Classifier {
 public:
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD(CosineDecay(0.5, 18))}}; }
};
// docs: end

}  // namespace

BOOST_AUTO_TEST_SUITE(learning_rates)

BOOST_AUTO_TEST_CASE(numbers_are_those_of_lightning) {
  const RecipeFolder folder;
  auto expected = recipe("learning_rates");
  Scheduled model;
  start(model, expected);
  const DataLoader train_loader = train_data(), val_loader = val_data();
  // docs: begin
  LearningRateMonitor monitor({.logging_interval = "step"});
  const loggers::CSVLogger logger("logs");
  Trainer trainer({.max_epochs = 3, .callbacks = {monitor}, .logger = {logger}, .log_every_n_steps = 1});
  const History history = trainer.fit(model, train_loader, val_loader);
  // docs: end
  check_recipe("rate", monitor.lrs().at("lr-SGD"), expected["rates"], 1e-6);
  check_recipe("val_loss", {history["val_loss"].back()}, expected["score"]);
}

BOOST_AUTO_TEST_SUITE_END()
