// keras.io/examples/generative/vae: see vae.py.
#include <boost/test/unit_test.hpp>

#include "parity/keras_examples/examples.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

class Sampling : public Layer {
 public:
  Sampling() : Layer("Sampling") {}

 protected:
  Values call_many(const Values& inputs) override {
    const Value &z_mean = inputs[0], &z_log_var = inputs[1], &epsilon = inputs[2];
    return {z_mean + exp(0.5 * z_log_var) * epsilon};
  }
};

class VAE : public Model {
 public:
  VAE(const Model& encoder, const Model& decoder)
      : Model("VAE"), encoder_(sub("encoder", encoder)), decoder_(sub("decoder", decoder)) {}

  Value training_step(const Batch& batch) override {
    const Value& data = batch["data"];
    const Values z = encoder_(Values{data, batch["noise"]});
    const Value &z_mean = z[0], &z_log_var = z[1];
    const Value reconstruction = decoder_(z[2]);
    const Value reconstruction_loss = mean(sum(binary_crossentropy(data, reconstruction), {.axes = {1, 2}}));
    Value kl_loss = -0.5 * (1 + z_log_var - square(z_mean) - exp(z_log_var));
    kl_loss = mean(sum(kl_loss, {.axes = {1}}));
    log("reconstruction_loss", reconstruction_loss);
    log("kl_loss", kl_loss);
    return reconstruction_loss + kl_loss;
  }

 private:
  Model encoder_, decoder_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(vae)

BOOST_AUTO_TEST_CASE(losses_are_those_of_keras) {
  const std::int64_t latent_dim = 2;
  const Input encoder_inputs({8, 8, 1}), noise({latent_dim});
  Value x = Conv2D(8, 3, {.strides = 2, .padding = "same", .activation = "relu"})(encoder_inputs);
  x = Conv2D(16, 3, {.strides = 2, .padding = "same", .activation = "relu"})(x);
  x = Flatten()(x);
  x = Dense(16, {.activation = "relu"})(x);
  const Value z_mean = Dense(latent_dim, {.name = "z_mean"})(x);
  const Value z_log_var = Dense(latent_dim, {.name = "z_log_var"})(x);
  const Value z = Sampling()(Values{z_mean, z_log_var, noise})[0];
  Model encoder({encoder_inputs, noise}, {z_mean, z_log_var, z}, {.name = "encoder"});

  const Input latent_inputs({latent_dim});
  x = Dense(2 * 2 * 16, {.activation = "relu"})(latent_inputs);
  x = Reshape({2, 2, 16})(x);
  x = Conv2DTranspose(16, 3, {.strides = 2, .padding = "same", .activation = "relu"})(x);
  x = Conv2DTranspose(8, 3, {.strides = 2, .padding = "same", .activation = "relu"})(x);
  const Value decoder_outputs = Conv2DTranspose(1, 3, {.padding = "same", .activation = "sigmoid"})(x);
  Model decoder(latent_inputs, decoder_outputs, {.name = "decoder"});

  auto expected = example("vae");
  initialize(encoder, expected["shapes"]);
  initialize(decoder, expected["shapes"], 200);
  VAE vae(encoder, decoder);
  vae.compile({.optimizer = Adam()});
  const Dataset data =
      Dataset::from_tensors({{"data", pictures(16, 8).images}, {"noise", normal_numbers(10, {16, 2})}});
  check_history(vae.fit(data, {.batch_size = 8, .epochs = 4, .verbose = 0, .shuffle = false}), expected["history"]);
}

BOOST_AUTO_TEST_SUITE_END()
