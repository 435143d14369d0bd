// lightning.ai: Lightning in 15 minutes: see lightning_module.py.
#include <boost/test/unit_test.hpp>

#include "parity/lightning_recipes/recipes.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// docs: begin
class LitClassifier : public Module {
 public:
  explicit LitClassifier(std::int64_t width = 8)
      : l1_(sub("l1", Dense(width, {.activation = "relu"}))), l2_(sub("l2", Dense(3))) {}

  Value call(const Value& x) override { return l2_(l1_(x)); }

  Value training_step(const Batch& batch) override {
    const Value loss = sparse_categorical_crossentropy(batch["y"], (*this)(batch["x"]), {.from_logits = true});
    log("train_loss", loss, {.on_epoch = true});
    return loss;
  }

  void validation_step(const Batch& batch) override {
    const Value logits = (*this)(batch["x"]);
    log("val_loss", sparse_categorical_crossentropy(batch["y"], logits, {.from_logits = true}));
    log("val_acc", accuracy(batch["y"], logits), {.prog_bar = true});
  }

  OptimizerConfigs configure_optimizers() override { return {{.optimizer = Adam(0.02)}}; }

 private:
  Dense l1_, l2_;
};
// docs: end

}  // namespace

BOOST_AUTO_TEST_SUITE(lightning_module)

BOOST_AUTO_TEST_CASE(numbers_are_those_of_lightning) {
  const RecipeFolder folder;
  auto expected = recipe("lightning_module");
  const DataLoader train_loader = train_data(), val_loader = val_data();
  // docs: begin
  LitClassifier model;
  // docs: end
  start(model, expected);
  // docs: begin
  Trainer trainer({.max_epochs = 5});
  const History history = trainer.fit(model, train_loader, val_loader);
  const Logs results = trainer.validate(model, val_loader);
  // docs: end
  check_recipe("val_loss", {results["val_loss"]}, nlohmann::json::array({expected["results"]["val_loss"]}));
  check_recipe("val_acc", {results["val_acc"]}, nlohmann::json::array({expected["results"]["val_acc"]}));
  BOOST_TEST(history["val_loss"].size() == 5U);
  BOOST_TEST(history["val_loss"].back() == results["val_loss"]);
}

BOOST_AUTO_TEST_SUITE_END()
