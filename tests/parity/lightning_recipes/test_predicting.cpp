// Predictions of a trained module, with and without a Trainer: see predicting.py.
#include <boost/test/unit_test.hpp>

#include "parity/lightning_recipes/recipes.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// docs: begin
class Predictor : public Classifier {
 public:
  Value predict_step(const Batch& batch) override { return softmax((*this)(batch["x"])); }
};
// docs: end

}  // namespace

BOOST_AUTO_TEST_SUITE(predicting)

BOOST_AUTO_TEST_CASE(numbers_are_those_of_lightning) {
  const RecipeFolder folder;
  auto expected = recipe("predicting");
  Predictor trained;
  start(trained, expected);
  const DataLoader train_loader = train_data(), predict_loader(points(10, 5), {.batch_size = 4});
  const Tensor x = uniform_numbers(5, {10, 4});
  Trainer trainer({.max_epochs = 3});
  trainer.fit(trained, train_loader);
  // docs: begin
  const Tensor predictions = trainer.predict(trained, predict_loader);
  // docs: end
  trainer.save_checkpoint(trained, "best.ckpt");
  // docs: begin
  // Without a Trainer.
  Predictor model = Module::load_from_checkpoint<Predictor>("best.ckpt");
  const Tensor classes = argmax(model(x), 1).tensor();
  // docs: end
  check_recipe("prediction", predictions.to_doubles(), expected["predictions"], 2e-3);
  BOOST_TEST(classes.to_doubles() == expected["classes"].get<std::vector<double>>(), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
