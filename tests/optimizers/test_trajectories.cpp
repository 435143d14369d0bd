#include <boost/test/unit_test.hpp>

#include <algorithm>

#include <mezzo/mezzo.hpp>

#include "step.hpp"
#include "support/kernels.hpp"
#include "support/recorded.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

States make_variables(const nlohmann::json& start, DType dtype) {
  States variables;
  for (const auto& numbers : start) {
    variables.push_back(std::make_shared<detail::VariableState>("w" + std::to_string(variables.size())));
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
  if (!optimizer.common().use_ema) return;
  const auto average = [&](const Optimizer::Slots& slots) { return slots.values.back()->value; };
  for (std::size_t i = 0; i < variables.size(); ++i) {
    BOOST_TEST(largest_difference(average(optimizer.state()->slots[i]),
                                  recorded_tensor(expected.at("trajectory").back()[i])) <= tolerance);
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
  const auto same = [cosine](std::int64_t step) { return cosine(step); };
  check_recorded<AdamW>("adamw_cosine_decay", AdamWOptions{.learning_rate = same});
}

BOOST_AUTO_TEST_CASE(averages_and_accumulated_gradients_equal_keras) {
  check_recorded<SGD>("sgd_ema",
                      SGDOptions{.learning_rate = 0.1, .momentum = 0.9, .use_ema = true, .ema_momentum = 0.7});
  check_recorded<SGD>(
      "sgd_ema_overwriting",
      SGDOptions{.learning_rate = 0.1, .use_ema = true, .ema_momentum = 0.8, .ema_overwrite_frequency = 3});
  check_recorded<SGD>(
      "sgd_accumulating",
      SGDOptions{.learning_rate = 0.1, .momentum = 0.9, .global_clipnorm = 0.5, .gradient_accumulation_steps = 3});
  check_recorded<Adam>(
      "adam_accumulating",
      AdamOptions{.learning_rate = 0.05, .weight_decay = 0.1, .clipvalue = 0.3, .gradient_accumulation_steps = 2});
}

BOOST_AUTO_TEST_CASE(relatives_of_adam_equal_keras) {
  check_recorded<Adam>("adam_amsgrad", AdamOptions{.learning_rate = 0.05, .beta_2 = 0.8, .amsgrad = true});
  check_recorded<Adamax>("adamax", AdamaxOptions{});
  check_recorded<Adamax>(
      "adamax_options",
      AdamaxOptions{.learning_rate = 0.05, .beta_1 = 0.8, .beta_2 = 0.9, .epsilon = 1e-3, .weight_decay = 0.1});
  check_recorded<Nadam>("nadam", NadamOptions{});
  check_recorded<Nadam>(
      "nadam_options",
      NadamOptions{.learning_rate = 0.05, .beta_1 = 0.8, .beta_2 = 0.9, .epsilon = 1e-3, .clipnorm = 1});
  check_recorded<Lion>("lion", LionOptions{});
  check_recorded<Lion>(
      "lion_options",
      LionOptions{.learning_rate = 0.05, .beta_1 = 0.8, .beta_2 = 0.9, .weight_decay = 0.1, .clipvalue = 0.5});
  check_recorded<Lamb>("lamb", LambOptions{});
  check_recorded<Lamb>("lamb_options", LambOptions{.learning_rate = 0.05,
                                                   .beta_1 = 0.8,
                                                   .beta_2 = 0.9,
                                                   .epsilon = 1e-3,
                                                   .weight_decay = 0.1,
                                                   .global_clipnorm = 1.5});
  check_recorded<ScheduleFreeAdamW>("schedule_free_adamw", ScheduleFreeAdamWOptions{});
  check_recorded<ScheduleFreeAdamW>("schedule_free_adamw_options", ScheduleFreeAdamWOptions{.learning_rate = 0.05,
                                                                                            .beta_1 = 0.8,
                                                                                            .beta_2 = 0.9,
                                                                                            .epsilon = 1e-3,
                                                                                            .warmup_steps = 4,
                                                                                            .weight_decay = 0.1});
}

BOOST_AUTO_TEST_CASE(optimizers_of_squared_gradients_equal_keras) {
  check_recorded<Adagrad>("adagrad", AdagradOptions{});
  check_recorded<Adagrad>(
      "adagrad_options",
      AdagradOptions{.learning_rate = 0.1, .initial_accumulator_value = 0.5, .epsilon = 1e-3, .weight_decay = 0.1});
  check_recorded<Adadelta>("adadelta", AdadeltaOptions{});
  check_recorded<Adadelta>("adadelta_options",
                           AdadeltaOptions{.learning_rate = 1, .rho = 0.8, .epsilon = 1e-3, .clipvalue = 0.5});
  check_recorded<RMSprop>("rmsprop", RMSpropOptions{});
  check_recorded<RMSprop>("rmsprop_momentum",
                          RMSpropOptions{.learning_rate = 0.05, .rho = 0.8, .momentum = 0.7, .weight_decay = 0.1});
  check_recorded<RMSprop>("rmsprop_centered", RMSpropOptions{.learning_rate = 0.05, .epsilon = 1e-3, .centered = true});
  check_recorded<RMSprop>(
      "rmsprop_centered_momentum",
      RMSpropOptions{.learning_rate = 0.05, .momentum = 0.9, .centered = true, .global_clipnorm = 1.5});
  check_recorded<Ftrl>("ftrl", FtrlOptions{});
  check_recorded<Ftrl>("ftrl_options", FtrlOptions{.learning_rate = 0.5,
                                                   .initial_accumulator_value = 0.2,
                                                   .l1_regularization_strength = 0.05,
                                                   .l2_regularization_strength = 0.1,
                                                   .l2_shrinkage_regularization_strength = 0.02,
                                                   .beta = 0.1,
                                                   .weight_decay = 0.1});
  check_recorded<Ftrl>("ftrl_power", FtrlOptions{.learning_rate = 0.5, .learning_rate_power = -0.3});
  check_recorded<Adafactor>("adafactor", AdafactorOptions{});
  check_recorded<Adafactor>("adafactor_options", AdafactorOptions{.learning_rate = 0.1,
                                                                  .beta_2_decay = -0.6,
                                                                  .epsilon_1 = 1e-10,
                                                                  .epsilon_2 = 1e-2,
                                                                  .clip_threshold = 0.7,
                                                                  .relative_step = false,
                                                                  .weight_decay = 0.1});
}

BOOST_AUTO_TEST_CASE(muon_equals_keras) {
  check_recorded<Muon>("muon", MuonOptions{});
  check_recorded<Muon>("muon_options", MuonOptions{.learning_rate = 0.05,
                                                   .adam_beta_1 = 0.8,
                                                   .adam_beta_2 = 0.9,
                                                   .adam_weight_decay = 0.2,
                                                   .epsilon = 1e-3,
                                                   .weight_decay = 0.1,
                                                   .clipvalue = 0.5,
                                                   .adam_lr_ratio = 0.5,
                                                   .momentum = 0.9,
                                                   .ns_steps = 3,
                                                   .nesterov = false,
                                                   .rms_rate = 0.3});
}

BOOST_AUTO_TEST_CASE(lars_equals_its_formula) {
  check_recorded<LARS>("lars", LARSOptions{.learning_rate = 1, .weight_decay = 0.01});
  check_recorded<LARS>("lars_options", LARSOptions{.learning_rate = 0.5,
                                                   .momentum = 0.8,
                                                   .weight_decay = 0.05,
                                                   .trust_coefficient = 0.02,
                                                   .epsilon = 1e-3,
                                                   .nesterov = true});
  check_recorded<LARS>("lars_without_decay", LARSOptions{.learning_rate = 0.1, .momentum = 0});
  check_recorded<LARS>(
      "lars_always", LARSOptions{.learning_rate = 0.1, .momentum = 0, .trust_coefficient = 0.1, .always_adapt = true});
}

BOOST_AUTO_TEST_SUITE_END()
