// keras.io/examples/generative/dcgan_overriding_train_step: see gan.py.
#include <boost/test/unit_test.hpp>

#include "parity/keras_examples/examples.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

struct GAN : Model {
  GAN(const Sequential& of_images, const Sequential& of_latent)
      : Model("GAN"), discriminator(sub("discriminator", of_images)), generator(sub("generator", of_latent)) {}

  OptimizerConfigs configure_optimizers() override {
    return {{.optimizer = Adam(0.001), .weights = discriminator.trainable_weights(), .name = "d"},
            {.optimizer = Adam(0.002), .weights = generator.trainable_weights(), .name = "g"}};
  }

  Value training_step(const Batch& batch) override {
    const Value& real_images = batch["image"];
    const std::int64_t batch_size = batch.size();
    const Value generated_images = generator(batch["latent"]);
    const Value combined_images = concatenate({generated_images, real_images}, 0);
    Value labels = concatenate({ones({batch_size, 1}), zeros({batch_size, 1})}, 0);
    labels += 0.05 * reshape(transpose(batch["label_noise"]), {-1, 1});
    const Value d_loss = loss_fn(labels, discriminator(combined_images));
    minimize(d_loss, optimizer("d"));

    const Value misleading_labels = zeros({batch_size, 1});
    const Value g_loss = loss_fn(misleading_labels, discriminator(generator(batch["random_latent"])));
    minimize(g_loss, optimizer("g"));
    log_dict({{"d_loss", d_loss}, {"g_loss", g_loss}});
    return g_loss;
  }

  Sequential discriminator, generator;
  BinaryCrossentropy loss_fn;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(gan)

BOOST_AUTO_TEST_CASE(losses_are_those_of_keras) {
  const std::int64_t latent_dim = 8;
  Sequential discriminator({
      Input({16, 16, 3}),
      layers::Conv2D(8, {.kernel_size = 4, .strides = 2, .padding = "same"}),
      layers::LeakyReLU({.negative_slope = 0.2}),
      layers::Conv2D(16, {.kernel_size = 4, .strides = 2, .padding = "same"}),
      layers::LeakyReLU({.negative_slope = 0.2}),
      layers::Flatten(),
      layers::Dense(1, {.activation = "sigmoid"}),
  });
  Sequential generator({
      Input({latent_dim}),
      layers::Dense(4 * 4 * 16),
      layers::Reshape({4, 4, 16}),
      layers::Conv2DTranspose(16, {.kernel_size = 4, .strides = 2, .padding = "same"}),
      layers::LeakyReLU({.negative_slope = 0.2}),
      layers::Conv2DTranspose(32, {.kernel_size = 4, .strides = 2, .padding = "same"}),
      layers::LeakyReLU({.negative_slope = 0.2}),
      layers::Conv2D(3, {.kernel_size = 5, .padding = "same", .activation = "sigmoid"}),
  });

  auto expected = example("gan");
  initialize(discriminator, expected["shapes"]);
  initialize(generator, expected["shapes"], 200);
  GAN gan(discriminator, generator);
  gan.compile({});
  const Dataset data = Dataset::from_tensors({{"image", pictures(16, 16, 3).images},
                                              {"latent", normal_numbers(10, {16, latent_dim})},
                                              {"random_latent", normal_numbers(20, {16, latent_dim})},
                                              {"label_noise", uniform_numbers(30, {16, 2}, 0, 1)}});
  check_history(gan.fit(data, {.batch_size = 8, .epochs = 4, .verbose = 0, .shuffle = false}), expected["history"]);
}

BOOST_AUTO_TEST_SUITE_END()
