// Precision as an option of the Trainer: see mixed_precision.py.
#include <boost/test/unit_test.hpp>

#include "parity/lightning_recipes/recipes.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(mixed_precision)

BOOST_AUTO_TEST_CASE(losses_are_near_those_of_lightning) {
  const RecipeFolder folder;
  auto expected = recipe("mixed_precision");
  Classifier model;
  start(model, expected);
  const DataLoader train_loader = train_data(), val_loader = val_data();
  // docs: begin
  Trainer trainer({.max_epochs = 5, .precision = "bf16-mixed"});
  trainer.fit(model, train_loader, val_loader);
  // docs: end
  BOOST_TEST(dtype_name(model.weights().front().dtype()) == expected["dtype"].get<std::string>());
  const double loss = Trainer({.precision = "32"}).validate(model, val_loader)["val_loss"];
  check_recipe("val_loss", {loss}, expected["score"], 0.02);
  Classifier exact;
  auto again = recipe("mixed_precision");
  start(exact, again);
  Trainer({.max_epochs = 5}).fit(exact, train_loader);
  BOOST_TEST(Trainer().validate(exact, val_loader)["val_loss"] != loss);
}

BOOST_AUTO_TEST_SUITE_END()
