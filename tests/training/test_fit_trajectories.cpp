// Compares whole fits with PyTorch's: optimizers x clips x schedules, on three models.
#include <boost/test/unit_test.hpp>

#include <cstdlib>

#include <mezzo/core/parallel.hpp>
#include <mezzo/mezzo.hpp>

#include "support/recorded.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using Json = nlohmann::json;

namespace {

detail::LearningRate learning_rate(const std::string& name) {
  const Json& options = recorded("fit").at("options");
  const auto rate = options.at("learning_rate").get<double>();
  const Json& schedule = options.at("schedules").at(name);
  if (name == "exponential") {
    return ExponentialDecay({.initial_learning_rate = rate,
                             .decay_steps = schedule.at("decay_steps"),
                             .decay_rate = schedule.at("decay_rate")});
  }
  if (name == "piecewise") {
    return PiecewiseConstantDecay({.boundaries = schedule.at("boundaries").get<std::vector<std::int64_t>>(),
                                   .values = schedule.at("values").get<std::vector<double>>()});
  }
  if (name == "cosine") {
    return CosineDecay(
        {.initial_learning_rate = rate, .decay_steps = schedule.at("decay_steps"), .alpha = schedule.at("alpha")});
  }
  if (name == "warmup") {
    return CosineDecay({.initial_learning_rate = schedule.at("initial"),
                        .decay_steps = schedule.at("decay_steps"),
                        .warmup_target = rate,
                        .warmup_steps = schedule.at("warmup_steps")});
  }
  return rate;
}

// The options that all optimizers have.
template <class Options>
Options common(const Json& recorded_options, const detail::LearningRate& rate) {
  Options options;
  options.learning_rate = rate;
  options.weight_decay = recorded_options.value("weight_decay", 0.0);
  options.clipnorm = recorded_options.value("clipnorm", 0.0);
  options.clipvalue = recorded_options.value("clipvalue", 0.0);
  options.global_clipnorm = recorded_options.value("global_clipnorm", 0.0);
  return options;
}

template <class O, class Options>
Any<Optimizer> make_adam(const Json& recorded_options, const detail::LearningRate& rate) {
  auto options = common<Options>(recorded_options, rate);
  options.beta_1 = recorded_options.value("beta_1", options.beta_1);
  options.beta_2 = recorded_options.value("beta_2", options.beta_2);
  options.epsilon = recorded_options.at("epsilon");
  return O(options);
}

Any<Optimizer> make_optimizer(const Json& options, const detail::LearningRate& rate) {
  const auto name = options.at("name").get<std::string>();
  if (name == "adam") return make_adam<Adam, AdamOptions>(options, rate);
  if (name == "adamw") return make_adam<AdamW, AdamWOptions>(options, rate);
  auto sgd = common<SGDOptions>(options, rate);
  sgd.momentum = options.value("momentum", 0.0);
  sgd.nesterov = options.value("nesterov", false);
  return SGD(sgd);
}

Sequential make_model(const std::string& kind) {
  if (kind == "embedding") {
    return Sequential({Embedding({.input_dim = 9, .output_dim = 2}), Flatten(), Dense({.units = 3})});
  }
  if (kind == "dense") return Sequential({Dense({.units = 4, .activation = "tanh"}), Dense({.units = 2})});
  return Sequential(
      {Dense({.units = 4, .use_bias = false}), BatchNormalization({.momentum = 0.8}), ReLU(), Dense({.units = 2})});
}

void check_fit(const std::string& name, const Json& expected, DType dtype, double tolerance) {
  const detail::PolicyScope policy{Policy(dtype)};
  const auto in_dtype = [&](const Json& numbers) {
    const Tensor tensor = recorded_tensor(numbers);
    return is_floating(tensor.dtype()) ? tensor.cast(dtype) : tensor;
  };
  const Json& options = recorded("fit").at("options");
  const auto kind = expected.at("model").get<std::string>();
  const Json& start = recorded("fit").at("start_" + kind);
  const Tensor x = in_dtype(start.at("x")), y = in_dtype(start.at("y"));
  Sequential model = make_model(kind);
  model.build(x.shape());
  const std::vector<Variable> weights = model.weights();
  BOOST_TEST_REQUIRE(weights.size() == start.at("weights").size());
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i].assign(in_dtype(start.at("weights")[i]));

  const Any<Loss> loss = kind == "embedding" ? Any<Loss>(SparseCategoricalCrossentropy({.from_logits = true}))
                                             : Any<Loss>(MeanSquaredError());
  model.compile(
      {.optimizer = make_optimizer(expected.at("optimizer"), learning_rate(expected.at("schedule"))), .loss = loss});
  FitOptions fit{.batch_size = options.at("batch_size"),
                 .epochs = options.at("epochs"),
                 .verbose = false,
                 .validation_split = options.at("validation_split"),
                 .shuffle = false};
  if (expected.at("weighted").get<bool>()) fit.sample_weight = in_dtype(options.at("sample_weight"));
  const History history = model.fit(x, y, fit);

  BOOST_TEST_CONTEXT(name << " of " << kind << " in " << dtype_name(dtype)) {
    for (const char* key : {"loss", "val_loss"}) {
      const auto losses = expected.at(key).get<std::vector<double>>();
      const auto epochs = static_cast<std::int64_t>(losses.size());
      const std::vector<double>& got = history.history.at(key);
      BOOST_TEST_REQUIRE(got.size() == losses.size());
      const double difference = largest_difference(Tensor({epochs}, got), Tensor({epochs}, losses));
      BOOST_TEST(difference <= tolerance, key << " off by " << difference);
    }
    for (std::size_t i = 0; i < weights.size(); ++i) {
      BOOST_TEST((weights[i].dtype() == dtype));
      const double difference = largest_difference(weights[i].value(), recorded_tensor(expected.at("weights")[i]));
      BOOST_TEST(difference <= tolerance, weights[i].name() << " off by " << difference);
    }
  }
}

// Checks every fit of an optimizer; under sanitizers, every third one.
void check_optimizer(const std::string& optimizer, DType dtype, double tolerance) {
  const detail::OneThread one;  // the models are tiny, and threads that wait for one another slow them down
  const bool small = std::getenv("MEZZO_TEST_SMALL") != nullptr;
  int count = 0;
  for (const auto& [name, expected] : recorded("fit").items()) {
    if (name.substr(0, name.find(' ')) != optimizer) continue;
    if (++count % 3 == 1 || !small) check_fit(name, expected, dtype, tolerance);
  }
  BOOST_TEST(count == 20);
}

void check_optimizer(const std::string& optimizer) {
  check_optimizer(optimizer, DType::float64, 1e-12);
  check_optimizer(optimizer, DType::float32, 2e-6);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fit_trajectories)

BOOST_AUTO_TEST_CASE(sgd_equals_pytorch) { check_optimizer("sgd"); }

BOOST_AUTO_TEST_CASE(sgd_with_momentum_equals_pytorch) { check_optimizer("sgd_momentum"); }

BOOST_AUTO_TEST_CASE(sgd_with_nesterov_and_weight_decay_equals_pytorch) { check_optimizer("sgd_nesterov"); }

BOOST_AUTO_TEST_CASE(adam_equals_pytorch) { check_optimizer("adam"); }

BOOST_AUTO_TEST_CASE(adamw_equals_pytorch) { check_optimizer("adamw"); }

BOOST_AUTO_TEST_SUITE_END()
