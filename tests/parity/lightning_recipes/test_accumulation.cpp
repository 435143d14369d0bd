// Accumulated and clipped gradients: see accumulation.py.
#include <boost/test/unit_test.hpp>

#include "parity/lightning_recipes/recipes.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(accumulation)

BOOST_AUTO_TEST_CASE(numbers_are_those_of_lightning) {
  const RecipeFolder folder;
  auto expected = recipe("accumulation");
  Classifier model;
  start(model, expected);
  const DataLoader train_loader = train_data(), val_loader = val_data();
  // docs: begin
  // Batches 0, 1 and 2 make an update together; its gradients are scaled to a norm of at most 0.1.
  Trainer trainer({.max_epochs = 3, .accumulate_grad_batches = 3, .gradient_clip_val = 0.1});
  History history = trainer.fit(model, train_loader, val_loader);
  // docs: end
  check_recipe("clipped", {history["val_loss"].back()}, expected["clipped"]);
  // docs: begin
  // From epoch 1 on 2 batches, from epoch 2 on 6; elements of the gradients lie in [-0.05, 0.05].
  GradientAccumulationScheduler scheduler({.scheduling = {{1, 2}, {2, 6}}});
  trainer = Trainer(
      {.max_epochs = 4, .gradient_clip_val = 0.05, .gradient_clip_algorithm = "value", .callbacks = {scheduler}});
  history = trainer.fit(model, train_loader, val_loader);
  // docs: end
  check_recipe("scheduled", {history["val_loss"].back()}, expected["scheduled"]);
}

BOOST_AUTO_TEST_SUITE_END()
