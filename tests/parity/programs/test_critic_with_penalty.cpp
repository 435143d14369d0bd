// Imitates pictures of interference fringes by a Wasserstein GAN with a penalty of slopes: see critic_with_penalty.py.
#include <boost/test/unit_test.hpp>

#include "parity/programs/programs.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr std::int64_t side = 10, noise_size = 6, count = 32, batch_size = 8, lessons = 2;

// Waves of random direction, wavelength and phase, from -1 to 1.
Tensor fringes() {
  const Value place = linspace(0, 1, {.num = side});
  const Value down = uniform_numbers(1, {count, 1, 1}, -5, 5), right = uniform_numbers(2, {count, 1, 1}, 2, 7);
  const Value phase = uniform_numbers(3, {count, 1, 1}, 0, 6);
  return cos(down * place(all, newaxis) + right * place + phase)(ellipsis, newaxis);
}

Model chain(const std::string& name, const Shape& shape, std::vector<Any<Layer>> stages) {
  const Input entry({.shape = shape});
  Value value = entry;
  for (Any<Layer>& stage : stages) value = stage(value);
  return Model(entry, value, {.name = name});
}

std::vector<Any<Layer>> critic_stages() {
  std::vector<Any<Layer>> stages{ZeroPadding2D({{1, 1}, {2, 0}})};
  for (const int channels : {4, 8}) {
    stages.emplace_back(Conv2D(channels, {3, 3}, {.strides = {2, 2}, .padding = "same", .use_bias = false}));
    stages.insert(stages.end(), {LeakyReLU({.negative_slope = 0.3}), Dropout(0.0)});
  }
  stages.insert(stages.end(), {Flatten(), Dense(1)});
  return stages;
}

std::vector<Any<Layer>> imitator_stages() {
  std::vector<Any<Layer>> stages{Dense(3 * 3 * 6, {.use_bias = false}), Reshape({3, 3, 6})};
  for (const int channels : {6, 4}) {
    stages.insert(stages.end(), {BatchNormalization(), LeakyReLU({.negative_slope = 0.3}), UpSampling2D(2)});
    stages.emplace_back(Conv2D(channels, {3, 3}, {.padding = "same", .use_bias = false}));
  }
  stages.insert(stages.end(), {Cropping2D({{1, 1}, {0, 2}}), Conv2D(1, {1, 1}), Activation("tanh")});
  return stages;
}

class FringeGan : public Model {
 public:
  explicit FringeGan(double weight) : Model("FringeGan"), weight_(weight) {}

  void compile(const Adam& teacher, const Adam& artist, std::function<Value(const Value&, const Value&)> critic_loss,
               std::function<Value(const Value&)> imitator_loss) {
    Model::compile({});
    optimizers_ = {{.optimizer = teacher, .weights = critic.trainable_weights(), .name = "teacher"},
                   {.optimizer = artist, .weights = imitator.trainable_weights(), .name = "artist"}};
    critic_loss_ = std::move(critic_loss);
    imitator_loss_ = std::move(imitator_loss);
  }

  Value penalty(const Value& real, const Value& fake, const Value& share) {
    const Value between = share * real + (1 - share) * fake;
    const Value slope = grad([&](const Value& x) { return sum(critic(x, {.training = true})); })(between);
    return mean(square(sqrt(sum(square(slope), {.axes = {1, 2, 3}})) - 1));
  }

  Value training_step(const Batch& batch) override {
    const Value real = batch["real"], noise = batch["noise"], shares = batch["shares"];
    const CallOptions training{.training = true};
    Value distance, slopes, loss;
    for (int i = 0; i < lessons; ++i) {
      const Value fake = imitator(noise(all, i), training);
      distance = critic_loss_(critic(real, training), critic(fake, training));
      slopes = penalty(real, fake, shares(all, i));
      loss = distance + weight_ * slopes;
      minimize(loss, optimizer("teacher"));
    }
    const Value drawn = imitator_loss_(critic(imitator(noise(all, -1), training), training));
    minimize(drawn, optimizer("artist"));
    log_dict({{"distance", distance}, {"penalty", slopes}, {"imitator", drawn}});
    return loss;
  }
  OptimizerConfigs configure_optimizers() override { return optimizers_; }

  Model imitator = sub("imitator", chain("imitator", {noise_size}, imitator_stages()));
  Model critic = sub("critic", chain("critic", {side, side, 1}, critic_stages()));

 private:
  double weight_;
  OptimizerConfigs optimizers_;
  std::function<Value(const Value&, const Value&)> critic_loss_;
  std::function<Value(const Value&)> imitator_loss_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(critic_with_penalty)

BOOST_AUTO_TEST_CASE(costs_and_pictures_equal_keras) {
  nlohmann::json keras = program("critic_with_penalty");
  FringeGan gan(10);
  initialize(gan.imitator, keras["shapes"]);
  initialize(gan.critic, keras["shapes"], 200);
  gan.compile(
      Adam({.learning_rate = 0.002, .beta_1 = 0.5, .beta_2 = 0.9}),
      Adam({.learning_rate = 0.003, .beta_1 = 0.5, .beta_2 = 0.9}),
      [](const Value& real, const Value& fake) { return mean(fake) - mean(real); },
      [](const Value& fake) { return -mean(fake); });
  const Tensor real = fringes(), noise = normal_numbers(4, {count, lessons + 1, noise_size});
  const Tensor shares = uniform_numbers(9, {count, lessons, 1, 1, 1}, 0, 1);
  const Dataset data = Dataset::from_tensors({{"real", real}, {"noise", noise}, {"shares", shares}});
  check_history(gan.fit(data, {.batch_size = batch_size, .epochs = 3, .verbose = 0, .shuffle = false}),
                keras["history"]);
  const Value pictures = gan.imitator(rows(noise, 0, batch_size)(all, 0), {.training = true});
  check_numbers("column", pictures(slice(2), all, 4).tensor().to_doubles(), keras["column"]);
  check_numbers("score", gan.critic.predict(rows(real, 0, 6)).to_doubles(), keras["scores"]);
}

BOOST_AUTO_TEST_SUITE_END()
