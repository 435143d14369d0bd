// keras.io/examples/generative/dcgan_overriding_train_step: see gan.py.
#include <boost/test/unit_test.hpp>

#include "parity/keras_examples/examples.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

class GAN : public Model {
 public:
  GAN(const Sequential& discriminator, const Sequential& generator)
      : Model("GAN"), discriminator_(sub("discriminator", discriminator)), generator_(sub("generator", generator)) {}

  void compile(const Any<Optimizer>& d_optimizer, const Any<Optimizer>& g_optimizer, const Any<Loss>& loss_fn) {
    Model::compile({});
    d_optimizer_ = d_optimizer;
    g_optimizer_ = g_optimizer;
    loss_fn_ = loss_fn;
  }

  OptimizerConfigs configure_optimizers() override {
    return {{.optimizer = d_optimizer_, .weights = discriminator_.trainable_weights(), .name = "d"},
            {.optimizer = g_optimizer_, .weights = generator_.trainable_weights(), .name = "g"}};
  }

  Value training_step(const Batch& batch) override {
    const Value& real_images = batch["image"];
    const std::int64_t batch_size = batch.size();
    const Value generated_images = generator_(batch["latent"]);
    const Value combined_images = concatenate({generated_images, real_images}, 0);
    Value labels = concatenate({ones({batch_size, 1}), zeros({batch_size, 1})}, 0);
    labels += 0.05 * reshape(transpose(batch["label_noise"]), {-1, 1});
    const Value d_loss = (*loss_fn_)(labels, discriminator_(combined_images));
    minimize(d_loss, optimizer("d"));

    const Value misleading_labels = zeros({batch_size, 1});
    const Value g_loss = (*loss_fn_)(misleading_labels, discriminator_(generator_(batch["random_latent"])));
    minimize(g_loss, optimizer("g"));
    log("d_loss", d_loss);
    log("g_loss", g_loss);
    return g_loss;
  }

 private:
  Sequential discriminator_, generator_;
  Any<Optimizer> d_optimizer_, g_optimizer_;
  Any<Loss> loss_fn_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(gan)

BOOST_AUTO_TEST_CASE(losses_are_those_of_keras) {
  const std::int64_t latent_dim = 8;
  Sequential discriminator(
      {
          Input({16, 16, 3}),
          layers::Conv2D(8, {.kernel_size = 4, .strides = 2, .padding = "same"}),
          layers::LeakyReLU({.negative_slope = 0.2}),
          layers::Conv2D(16, {.kernel_size = 4, .strides = 2, .padding = "same"}),
          layers::LeakyReLU({.negative_slope = 0.2}),
          layers::Flatten(),
          layers::Dense(1, {.activation = "sigmoid"}),
      },
      {.name = "discriminator"});
  Sequential generator(
      {
          Input({latent_dim}),
          layers::Dense(4 * 4 * 16),
          layers::Reshape({4, 4, 16}),
          layers::Conv2DTranspose(16, {.kernel_size = 4, .strides = 2, .padding = "same"}),
          layers::LeakyReLU({.negative_slope = 0.2}),
          layers::Conv2DTranspose(32, {.kernel_size = 4, .strides = 2, .padding = "same"}),
          layers::LeakyReLU({.negative_slope = 0.2}),
          layers::Conv2D(3, {.kernel_size = 5, .padding = "same", .activation = "sigmoid"}),
      },
      {.name = "generator"});

  auto expected = example("gan");
  initialize(discriminator, expected["shapes"]);
  initialize(generator, expected["shapes"], 200);
  GAN gan(discriminator, generator);
  gan.compile(Adam(0.001), Adam(0.002), BinaryCrossentropy());
  const Dataset data = Dataset::from_tensors({{"image", pictures(16, 16, 3).images},
                                              {"latent", normal_numbers(10, {16, latent_dim})},
                                              {"random_latent", normal_numbers(20, {16, latent_dim})},
                                              {"label_noise", uniform_numbers(30, {16, 2}, 0, 1)}});
  check_history(gan.fit(data, {.batch_size = 8, .epochs = 4, .verbose = 0, .shuffle = false}), expected["history"]);
}

BOOST_AUTO_TEST_SUITE_END()
