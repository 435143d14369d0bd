// A frozen backbone under a new head: see transfer_learning.py.
#include <boost/test/unit_test.hpp>

#include "parity/lightning_recipes/recipes.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// docs: begin
class NewHead : public Module {
 public:
  explicit NewHead(const Sequential& backbone) : backbone_(sub("backbone", backbone)), head_(sub("head", Dense(3))) {
    backbone_.set_trainable(false);
  }

  Value call(const Value& x) override { return head_(backbone_(x)); }

  Value training_step(const Batch& batch) override {
    return sparse_categorical_crossentropy(batch["y"], (*this)(batch["x"]), {.from_logits = true});
  }

  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD(0.5)}}; }

 private:
  Sequential backbone_;
  Dense head_;
};
// docs: end

}  // namespace

BOOST_AUTO_TEST_SUITE(transfer_learning)

BOOST_AUTO_TEST_CASE(numbers_are_those_of_lightning) {
  const RecipeFolder folder;
  auto expected = recipe("transfer_learning");
  const Sequential backbone({Dense(8, {.activation = "relu"})});
  const DataLoader train_loader = train_data();
  // docs: begin
  NewHead model(backbone);
  // docs: end
  start(model, expected);
  const Tensor before = model.weights().front().value().copy();
  // docs: begin
  Trainer({.max_epochs = 4}).fit(model, train_loader);
  // docs: end
  BOOST_TEST(before.equal(model.weights().front().value()));
  const HostBatch batch = *DataLoader(points(16, 2), {.batch_size = 16}).epoch(0).next();
  const Tensor &x = batch.fields[0].tensor, &y = batch.fields[1].tensor;
  const double loss = mean(sparse_categorical_crossentropy(y, model(x), {.from_logits = true})).item();
  check_recipe("loss", {loss}, expected["score"]);
}

BOOST_AUTO_TEST_SUITE_END()
