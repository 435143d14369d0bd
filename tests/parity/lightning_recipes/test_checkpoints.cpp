// Checkpoints of the best epochs, and early stopping: see checkpoints.py.
#include <boost/test/unit_test.hpp>

#include <sstream>

#include "parity/lightning_recipes/recipes.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(checkpoints)

BOOST_AUTO_TEST_CASE(decisions_are_those_of_lightning) {
  const RecipeFolder folder;
  auto expected = recipe("checkpoints");
  Classifier model(2.5);
  start(model, expected);
  const DataLoader train_loader = train_data(), val_loader = val_data();
  std::ostringstream out;
  // docs: begin
  ModelCheckpoint checkpoint({
      .dirpath = "checkpoints",
      .filename = "{epoch:02d}-{val_loss:.2f}",
      .monitor = "val_loss",
      .save_last = true,
      .save_top_k = 2,
      .mode = "min",
  });
  EarlyStopping stopping({.monitor = "val_loss", .patience = 3, .mode = "min"});
  Trainer trainer({.max_epochs = 50, .callbacks = {checkpoint, stopping}});
  trainer.fit(model, train_loader, val_loader);

  out << checkpoint.best_model_path() << *checkpoint.best() << stopping.stopped_epoch();
  Classifier best = Module::load_from_checkpoint<Classifier>(checkpoint.best_model_path());
  // docs: end
  BOOST_TEST(std::filesystem::path(checkpoint.best_model_path()).filename().string() ==
             expected["best"].get<std::string>());
  BOOST_TEST(stopping.stopped_epoch() == expected["stopped"].get<int>());
  std::vector<std::string> models;
  for (const auto& [path, score] : checkpoint.best_k_models()) {
    models.push_back(std::filesystem::path(path).filename().string());
  }
  BOOST_TEST(models == expected["models"].get<std::vector<std::string>>(), boost::test_tools::per_element());
  check_recipe("val_loss", {*checkpoint.best()}, expected["score"]);
  const Logs results = trainer.validate(best, val_loader);
  check_recipe("loaded", {results["val_loss"]}, expected["score"]);
}

BOOST_AUTO_TEST_SUITE_END()
