// lightning.ai: Manual optimization: see gan.py.
#include <boost/test/unit_test.hpp>

#include "parity/lightning_recipes/recipes.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// docs: begin
class GAN : public Module {
 public:
  Value call(const Value& z) override { return discriminator_(generator_(z)); }

  Value training_step(const Batch& batch) override {
    const Value &real = batch["real"], &z = batch["z"];
    const Value ones = mezzo::ones({batch.size(), 1}), zeros = mezzo::zeros({batch.size(), 1});

    const Value fake = stop_gradient(generator_(z));
    Value d_loss = mean(binary_crossentropy(ones, discriminator_(real), {.from_logits = true}));
    d_loss += mean(binary_crossentropy(zeros, discriminator_(fake), {.from_logits = true}));
    minimize(d_loss, optimizer("d"));

    const Value g_loss = binary_crossentropy(ones, discriminator_(generator_(z)), {.from_logits = true});
    minimize(g_loss, optimizer("g"));
    log_dict({{"g_loss", g_loss}, {"d_loss", d_loss}}, {.prog_bar = true, .on_epoch = true});
    return g_loss;  // shown as "loss"
  }

  OptimizerConfigs configure_optimizers() override {
    return {{.optimizer = SGD(0.1), .weights = generator_.weights(), .name = "g"},
            {.optimizer = SGD(0.2), .weights = discriminator_.weights(), .name = "d"}};
  }

 private:
  Sequential generator_ = sub("generator", Sequential({Dense(8, {.activation = "relu"}), Dense(4)}));
  Sequential discriminator_ = sub("discriminator", Sequential({Dense(8, {.activation = "relu"}), Dense(1)}));
};
// docs: end

}  // namespace

BOOST_AUTO_TEST_SUITE(gan)

BOOST_AUTO_TEST_CASE(losses_are_those_of_lightning) {
  const RecipeFolder folder;
  auto expected = recipe("gan");
  GAN model;
  start(model, expected, {1, 3});
  const Dataset data =
      Dataset::from_tensors({{"real", uniform_numbers(3, {32, 4})}, {"z", uniform_numbers(4, {32, 3})}});
  const History history = Trainer({.max_epochs = 3}).fit(model, DataLoader(data, {.batch_size = 8}));
  for (const char* name : {"g_loss", "d_loss"}) check_recipe(name, {history[name].back()}, expected[name]);
}

BOOST_AUTO_TEST_SUITE_END()
