// Options that find mistakes early: see debugging.py.
#include <boost/test/unit_test.hpp>

#include "parity/lightning_recipes/recipes.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(debugging)

BOOST_AUTO_TEST_CASE(numbers_are_those_of_lightning) {
  const RecipeFolder folder;
  auto expected = recipe("debugging");
  Classifier model;
  start(model, expected);
  const DataLoader train_loader = train_data(), val_loader = val_data();
  const auto score = [&] { return std::vector{Trainer().validate(model, val_loader)["val_loss"]}; };
  // docs: begin
  // Runs one batch of training and validation.
  Trainer({.fast_dev_run = true}).fit(model, train_loader, val_loader);
  // docs: end
  check_recipe("dev", score(), expected["dev"]);
  // docs: begin
  // The loss must fall to about 0 on two batches.
  Trainer({.max_epochs = 20, .overfit_batches = 2}).fit(model, train_loader, train_loader);
  // docs: end
  check_recipe("overfit", score(), expected["overfit"]);
  // docs: begin
  // Shorter epochs, and an error at the first number that is not finite.
  Trainer trainer({.max_epochs = 2, .limit_train_batches = 0.5, .limit_val_batches = 1, .detect_anomaly = true});
  trainer.fit(model, train_loader, val_loader);
  // docs: end
  check_recipe("short", score(), expected["short"]);
}

BOOST_AUTO_TEST_SUITE_END()
