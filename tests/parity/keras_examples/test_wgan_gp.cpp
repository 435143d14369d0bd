// keras.io/examples/generative/wgan_gp: see wgan_gp.py.
#include <boost/test/unit_test.hpp>

#include "parity/keras_examples/examples.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const std::int64_t noise_dim = 8;
const Shape img_shape{12, 12, 1};

struct BlockOptions {
  Ints kernel_size{3, 3}, strides{1, 1}, up_size{2, 2};
  std::string padding = "same";
  bool use_bias = true, use_bn = false, use_dropout = false;
  double drop_value = 0.5;
};

Value conv_block(Value x, std::int64_t filters, Any<Layer> activation, const BlockOptions& options = {}) {
  x = layers::Conv2D(filters, options.kernel_size,
                     {.strides = options.strides, .padding = options.padding, .use_bias = options.use_bias})(x);
  if (options.use_bn) x = layers::BatchNormalization()(x);
  x = activation(x);
  if (options.use_dropout) x = layers::Dropout(options.drop_value)(x);
  return x;
}

Model get_discriminator_model() {
  const Input img_input(img_shape);
  // Zero pad the input to make the input images size to (16, 16, 1).
  Value x = layers::ZeroPadding2D({2, 2})(img_input);
  x = conv_block(x, 8, layers::LeakyReLU(0.2), {.kernel_size = {5, 5}, .strides = {2, 2}, .use_bias = true});
  x = conv_block(x, 16, layers::LeakyReLU(0.2), {.kernel_size = {5, 5}, .strides = {2, 2}, .use_bias = true});
  x = layers::Flatten()(x);
  x = layers::Dense(1)(x);
  return Model(img_input, x, {.name = "discriminator"});
}

Value upsample_block(Value x, std::int64_t filters, const Any<Layer>& activation, const BlockOptions& options = {}) {
  x = layers::UpSampling2D(options.up_size)(x);
  return conv_block(x, filters, activation, options);
}

Model get_generator_model() {
  const Input noise({noise_dim});
  Value x = layers::Dense(4 * 4 * 16, {.use_bias = false})(noise);
  x = layers::BatchNormalization()(x);
  x = layers::LeakyReLU(0.2)(x);

  x = layers::Reshape({4, 4, 16})(x);
  x = upsample_block(x, 8, layers::LeakyReLU(0.2), {.use_bias = false, .use_bn = true});
  x = upsample_block(x, 1, layers::Activation("tanh"), {.use_bias = false, .use_bn = true});
  // At this point, we have an output which has the same shape as the padded input, (16, 16, 1).
  x = layers::Cropping2D({2, 2})(x);
  return Model(noise, x, {.name = "generator"});
}

using DiscriminatorLoss = std::function<Value(const Value& real_img, const Value& fake_img)>;
using GeneratorLoss = std::function<Value(const Value& fake_img)>;

class WGAN : public Model {
 public:
  WGAN(const Model& discriminator, const Model& generator, std::int64_t discriminator_extra_steps = 3,
       double gp_weight = 10.0)
      : Model("WGAN"),
        discriminator_(sub("discriminator", discriminator)),
        generator_(sub("generator", generator)),
        d_steps_(discriminator_extra_steps),
        gp_weight_(gp_weight) {}

  void compile(const Any<Optimizer>& d_optimizer, const Any<Optimizer>& g_optimizer, DiscriminatorLoss d_loss_fn,
               GeneratorLoss g_loss_fn) {
    Model::compile({});
    d_optimizer_ = d_optimizer;
    g_optimizer_ = g_optimizer;
    d_loss_fn_ = std::move(d_loss_fn);
    g_loss_fn_ = std::move(g_loss_fn);
  }

  OptimizerConfigs configure_optimizers() override {
    return {{.optimizer = d_optimizer_, .weights = discriminator_.trainable_weights(), .name = "d"},
            {.optimizer = g_optimizer_, .weights = generator_.trainable_weights(), .name = "g"}};
  }

  Value gradient_penalty(const Value& alpha, const Value& real_images, const Value& fake_images) {
    // Get the interpolated image
    const Value interpolated = real_images + alpha * (fake_images - real_images);
    // 1. Get the discriminator output for this interpolated image.
    // 2. Calculate the gradients w.r.t to this interpolated image.
    const Value grads = grad([this](const Value& x) { return sum(discriminator_(x)); })(interpolated);
    // 3. Calculate the norm of the gradients.
    const Value norm = sqrt(sum(square(grads), {.axes = {1, 2, 3}}));
    return mean(square(norm - 1.0));
  }

  Value training_step(const Batch& batch) override {
    const Value &real_images = batch["image"], &random_latent_vectors = batch["latent"], &alpha = batch["alpha"];
    Value d_loss;
    // Train the discriminator first. The noise is an input here, so that it is equal.
    for (std::int64_t i = 0; i < d_steps_; ++i) {
      // Generate fake images from the latent vector
      const Value fake_images = generator_(random_latent_vectors(all, i));
      // Get the logits for the fake images
      const Value fake_logits = discriminator_(fake_images);
      // Get the logits for the real images
      const Value real_logits = discriminator_(real_images);

      // Calculate the discriminator loss using the fake and real image logits
      const Value d_cost = d_loss_fn_(real_logits, fake_logits);
      // Calculate the gradient penalty
      const Value gp = gradient_penalty(alpha(all, i), real_images, fake_images);
      // Add the gradient penalty to the original discriminator loss
      d_loss = d_cost + gp * gp_weight_;
      minimize(d_loss, optimizer("d"));
    }

    // Train the generator
    // Generate fake images using the generator
    const Value generated_images = generator_(random_latent_vectors(all, d_steps_));
    // Get the discriminator logits for fake images
    const Value gen_img_logits = discriminator_(generated_images);
    // Calculate the generator loss
    const Value g_loss = g_loss_fn_(gen_img_logits);
    minimize(g_loss, optimizer("g"));
    log("d_loss", d_loss);
    log("g_loss", g_loss);
    return g_loss;
  }

 private:
  Model discriminator_, generator_;
  std::int64_t d_steps_;
  double gp_weight_;
  Any<Optimizer> d_optimizer_, g_optimizer_;
  DiscriminatorLoss d_loss_fn_;
  GeneratorLoss g_loss_fn_;
};

// Define the loss functions for the discriminator, which should be (fake_loss - real_loss).
Value discriminator_loss(const Value& real_img, const Value& fake_img) {
  const Value real_loss = mean(real_img);
  const Value fake_loss = mean(fake_img);
  return fake_loss - real_loss;
}

// Define the loss functions for the generator.
Value generator_loss(const Value& fake_img) { return -mean(fake_img); }

}  // namespace

BOOST_AUTO_TEST_SUITE(wgan_gp)

BOOST_AUTO_TEST_CASE(losses_are_those_of_keras) {
  Model d_model = get_discriminator_model(), g_model = get_generator_model();
  auto expected = example("wgan_gp");
  initialize(d_model, expected["shapes"]);
  initialize(g_model, expected["shapes"], 200);
  WGAN wgan(d_model, g_model, 1);
  // learning_rate=0.0002, beta_1=0.5 are recommended
  const Adam generator_optimizer({.learning_rate = 0.0002, .beta_1 = 0.5, .beta_2 = 0.9});
  const Adam discriminator_optimizer({.learning_rate = 0.0002, .beta_1 = 0.5, .beta_2 = 0.9});
  wgan.compile(discriminator_optimizer, generator_optimizer, discriminator_loss, generator_loss);
  const Dataset data = Dataset::from_tensors({{"image", pictures(16, 12).images},
                                              {"latent", normal_numbers(10, {16, 2, noise_dim})},
                                              {"alpha", uniform_numbers(20, {16, 1, 1, 1, 1}, 0, 1)}});
  check_history(wgan.fit(data, {.batch_size = 8, .epochs = 3, .verbose = 0, .shuffle = false}), expected["history"]);
}

BOOST_AUTO_TEST_SUITE_END()
