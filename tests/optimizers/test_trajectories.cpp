#include <boost/test/unit_test.hpp>

#include <mezzo/optimizers/adam.hpp>
#include <mezzo/optimizers/adamw.hpp>
#include <mezzo/optimizers/cosine_decay.hpp>
#include <mezzo/optimizers/sgd.hpp>

#include "step.hpp"
#include "support/kernels.hpp"
#include "support/recorded.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

States make_variables(const nlohmann::json& start, DType dtype) {
  States variables;
  for (const auto& numbers : start) {
    variables.push_back(std::make_shared<VariableState>("w" + std::to_string(variables.size())));
    variables.back()->assign(recorded_tensor(numbers).cast(dtype));
  }
  return variables;
}

void check_trajectory(const std::string& name, Optimizer& optimizer, DType dtype, double scale, double tolerance) {
  const auto& expected = recorded("optimizers").at(name);
  const States variables = make_variables(expected.at("start"), dtype);
  for (std::size_t t = 0; t < expected.at("gradients").size(); ++t) {
    std::vector<Tensor> gradients;
    for (const auto& recorded_gradient : expected.at("gradients")[t]) {
      Tensor gradient = recorded_tensor(recorded_gradient);
      for (std::int64_t i = 0; i < gradient.size(); ++i) gradient.mutable_data<double>()[i] *= scale;
      gradients.push_back(gradient.cast(dtype));
    }
    step(optimizer, variables, gradients, scale);
    for (std::size_t i = 0; i < variables.size(); ++i) {
      BOOST_TEST_CONTEXT(name << " in " << dtype_name(dtype) << ", scale " << scale << ", step " << t) {
        BOOST_TEST((variables[i]->value.dtype() == dtype));
        BOOST_TEST(largest_difference(variables[i]->value, recorded_tensor(expected.at("trajectory")[t][i])) <=
                   tolerance);
      }
    }
  }
}

// Copies of an optimizer share slots, so each run needs a new one.
template <class O, class Options>
void check_recorded(const std::string& name, const Options& options) {
  O plain(options), single(options), scaled(options);
  check_trajectory(name, plain, DType::float64, 1, 1e-13);
  check_trajectory(name, single, DType::float32, 1, 2e-6);
  check_trajectory(name, scaled, DType::float64, 1024, 1e-13);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(trajectories)

BOOST_AUTO_TEST_CASE(sgd_equals_keras) {
  check_recorded<SGD>("sgd", SGDOptions{});
  check_recorded<SGD>("sgd_momentum", SGDOptions{.learning_rate = 0.1, .momentum = 0.9});
  check_recorded<SGD>("sgd_nesterov", SGDOptions{.learning_rate = 0.1, .momentum = 0.8, .nesterov = true});
  check_recorded<SGD>("sgd_weight_decay", SGDOptions{.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 0.05});
  check_recorded<SGD>("sgd_clipnorm", SGDOptions{.learning_rate = 0.1, .clipnorm = 1});
  check_recorded<SGD>("sgd_clipvalue", SGDOptions{.learning_rate = 0.1, .momentum = 0.5, .clipvalue = 0.5});
  check_recorded<SGD>("sgd_global_clipnorm", SGDOptions{.learning_rate = 0.1, .global_clipnorm = 1.5});
}

BOOST_AUTO_TEST_CASE(adam_equals_keras) {
  check_recorded<Adam>("adam", AdamOptions{});
  check_recorded<Adam>("adam_options",
                       AdamOptions{.learning_rate = 0.05, .beta_1 = 0.8, .beta_2 = 0.95, .epsilon = 1e-3});
  check_recorded<Adam>("adam_weight_decay", AdamOptions{.learning_rate = 0.05, .weight_decay = 0.1});
  check_recorded<Adam>("adam_clipnorm", AdamOptions{.learning_rate = 0.05, .clipnorm = 1});
  check_recorded<Adam>("adam_clipvalue", AdamOptions{.learning_rate = 0.05, .clipvalue = 0.5});
  check_recorded<Adam>("adam_global_clipnorm", AdamOptions{.learning_rate = 0.05, .global_clipnorm = 1.5});
}

BOOST_AUTO_TEST_CASE(adamw_equals_keras) {
  check_recorded<AdamW>("adamw", AdamWOptions{});
  check_recorded<AdamW>(
      "adamw_options",
      AdamWOptions{.learning_rate = 0.05, .weight_decay = 0.2, .beta_1 = 0.7, .beta_2 = 0.9, .epsilon = 1e-4});
  const CosineDecay cosine(
      {.initial_learning_rate = 0.01, .decay_steps = 6, .alpha = 0.1, .warmup_target = 0.1, .warmup_steps = 3});
  check_recorded<AdamW>("adamw_cosine_decay", AdamWOptions{.learning_rate = cosine});
}

BOOST_AUTO_TEST_SUITE_END()
