// A training that goes on from a checkpoint, and hyperparameters of a module: see resuming.py.
#include <boost/test/unit_test.hpp>

#include "parity/lightning_recipes/recipes.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(resuming)

BOOST_AUTO_TEST_CASE(numbers_are_those_of_lightning) {
  const RecipeFolder folder;
  auto expected = recipe("resuming");
  Classifier model;
  start(model, expected);
  const DataLoader train_loader = train_data(), val_loader = val_data();
  // docs: begin
  Trainer trainer({.max_epochs = 2});
  trainer.fit(model, train_loader, val_loader);
  trainer.save_checkpoint(model, "two.ckpt");

  Classifier resumed;
  Trainer longer({.max_epochs = 5});
  const History history = longer.fit(resumed, train_loader, val_loader, {.ckpt_path = "two.ckpt"});
  // docs: end
  BOOST_TEST(history.epoch.back() + 1 == expected["epochs"].get<int>());
  check_recipe("val_loss", {history["val_loss"].back()}, expected["score"]);
  trainer.fit(model, train_loader, val_loader);
  BOOST_TEST(longer.validate(model, val_loader)["val_loss"] != history["val_loss"].back());
}

BOOST_AUTO_TEST_SUITE_END()
