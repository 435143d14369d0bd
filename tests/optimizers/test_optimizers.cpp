#include <boost/test/unit_test.hpp>

#include <cmath>

#include <mezzo/optimizers/adam.hpp>
#include <mezzo/optimizers/adamw.hpp>
#include <mezzo/optimizers/sgd.hpp>

#include "step.hpp"
#include "support/kernels.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

std::string refused_sgd(const SGDOptions& options) {
  return refused<ValueError>([&] { SGD{options}; });
}

std::string refused_adam(const AdamOptions& options) {
  return refused<ValueError>([&] { Adam{options}; });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(optimizers)

// Keras' defect: in pure bfloat16, beta_2 = 0.999 rounds to 1 and weights never move.
BOOST_AUTO_TEST_CASE(adam_moves_bfloat16_variables_and_keeps_float32_slots) {
  auto variable = std::make_shared<VariableState>("w");
  variable->assign(Tensor({4}, DType::bfloat16));
  Adam adam({.learning_rate = 0.01});
  const Tensor gradient = random_tensor({4}, DType::bfloat16, 1, 0.5, 1);
  for (int i = 0; i < 5; ++i) step(adam, {variable}, {gradient}, 1);
  for (const double w : variable->value.to_doubles()) BOOST_TEST(std::abs(w + 0.05) < 0.001);
  const auto& slots = adam.state()->slots.at(0).values;
  BOOST_TEST_REQUIRE(slots.size() == 2U);
  BOOST_TEST(slots[0]->name == "w/momentum");
  BOOST_TEST(slots[1]->name == "w/velocity");
  for (const auto& slot : slots) BOOST_TEST((slot->value.dtype() == DType::float32));
}

// keras-hub #2629: the same with default options, and with each storage option for bfloat16 variables.
BOOST_AUTO_TEST_CASE(keras_hub_2629_beta_2_of_0_999_updates_bfloat16_variables) {
  for (const AdamOptions& options :
       {AdamOptions{}, {.stochastic_rounding = true}, {.kahan_summation = true}, {.state_dtype = DType::bfloat16}}) {
    auto variable = std::make_shared<VariableState>("w");
    variable->assign(Tensor({4}, DType::bfloat16));
    Adam adam(options);
    for (int i = 0; i < 10; ++i) step(adam, {variable}, {random_tensor({4}, DType::bfloat16, 1, 0.5, 1)}, 1);
    for (const double w : variable->value.to_doubles()) BOOST_TEST(std::abs(w + 0.01) < 0.001);
  }
}

// The same for momentum: 0.999 in bfloat16 is 1, and the velocity would never decay.
BOOST_AUTO_TEST_CASE(momentum_of_0_999_fades_for_bfloat16_variables) {
  auto variable = std::make_shared<VariableState>("w");
  variable->assign(Tensor({1}, DType::bfloat16));
  SGD sgd({.learning_rate = 1, .momentum = 0.999});
  step(sgd, {variable}, {Tensor({1}, std::vector<float>{1}).cast(DType::bfloat16)}, 1);
  for (int i = 0; i < 1000; ++i) step(sgd, {variable}, {Tensor({1}, DType::bfloat16)}, 1);
  const VariableState& velocity = *sgd.state()->slots.at(0).values.at(0);
  BOOST_TEST((velocity.value.dtype() == DType::float32));
  BOOST_TEST(velocity.value.item() == -std::pow(0.999, 1000), boost::test_tools::tolerance(1e-4));
}

// beta_2 rounded to bfloat16 is 1. Moments are rounded stochastically, so their expected values are exact.
BOOST_AUTO_TEST_CASE(states_in_bfloat16_follow_small_changes_on_average) {
  constexpr std::int64_t size = 4096;
  auto variable = std::make_shared<VariableState>("w");
  variable->assign(Tensor({size}));
  Adam adam({.learning_rate = 0, .state_dtype = DType::bfloat16});
  const Tensor ones({size}, std::vector<float>(size, 1));
  for (int i = 0; i < 1000; ++i) step(adam, {variable}, {ones}, 1);
  const auto& slots = adam.state()->slots.at(0).values;
  for (const auto& slot : slots) BOOST_TEST((slot->value.dtype() == DType::bfloat16));
  double sum = 0;
  for (const double v : slots[1]->value.to_doubles()) sum += v;
  BOOST_TEST(std::abs(sum / size - (1 - std::pow(0.999, 1000))) < 1e-3);  // rounded to nearest, v stops at 0.25
}

BOOST_AUTO_TEST_CASE(split_masters_equal_float32_masters_bit_for_bit) {
  const Tensor start = random_tensor({1003}, DType::float32, 1);
  for (const DType state_dtype : {DType::float32, DType::bfloat16}) {
    auto whole = std::make_shared<VariableState>("w"), split = std::make_shared<VariableState>("w");
    for (const auto& variable : {whole, split}) variable->assign(start);
    split->split();
    AdamW first({.state_dtype = state_dtype}), second({.split_master_weights = true, .state_dtype = state_dtype});
    for (std::uint64_t i = 0; i < 100; ++i) {
      const Tensor gradient = random_tensor({1003}, DType::float32, 2 + i);
      step(first, {whole}, {gradient}, 1);
      step(second, {split}, {gradient}, 1);
      BOOST_TEST_REQUIRE(split->numbers().equal(whole->value), "step " << i);
    }
    BOOST_TEST((split->value.dtype() == DType::bfloat16));
    BOOST_TEST(split->value.bytes() + split->remainder->value.bytes() == 4 * 1003U);
  }
}

// Every optimizer passes on every option that all optimizers have.
template <class O, class Options>
void check_common_options() {
  Options options;
  options.learning_rate = 0.5;
  options.weight_decay = 0.25;
  const OptimizerCommon plain = O(options).common();
  BOOST_TEST(plain.learning_rate.at(0) == 0.5);
  BOOST_TEST(plain.weight_decay == 0.25);
  for (double OptimizerCommon::*clip :
       {&OptimizerCommon::clipnorm, &OptimizerCommon::clipvalue, &OptimizerCommon::global_clipnorm}) {
    BOOST_TEST((plain.*clip == 0));
  }
  const auto with = [&](auto Options::*option, auto value) {
    Options changed = options;
    changed.*option = value;
    return O(changed).common();
  };
  BOOST_TEST(with(&Options::clipnorm, 2.0).clipnorm == 2);
  BOOST_TEST(with(&Options::clipvalue, 2.0).clipvalue == 2);
  BOOST_TEST(with(&Options::global_clipnorm, 2.0).global_clipnorm == 2);
  BOOST_TEST(with(&Options::split_master_weights, true).split_master_weights);
  BOOST_TEST(with(&Options::stochastic_rounding, true).stochastic_rounding);
  BOOST_TEST(with(&Options::kahan_summation, true).kahan_summation);
}

BOOST_AUTO_TEST_CASE(common_options_are_passed_on) {
  check_common_options<SGD, SGDOptions>();
  check_common_options<Adam, AdamOptions>();
  check_common_options<AdamW, AdamWOptions>();
  const auto bfloat16 = DType::bfloat16;
  BOOST_TEST((SGD({.momentum = 0.9, .state_dtype = bfloat16}).common().state_dtype == bfloat16));
  BOOST_TEST((Adam({.state_dtype = bfloat16}).common().state_dtype == bfloat16));
  BOOST_TEST((AdamW({.state_dtype = bfloat16}).common().state_dtype == bfloat16));
}

BOOST_AUTO_TEST_CASE(copies_share_slots_and_clones_do_not) {
  SGD original({.momentum = 0.9});
  const SGD copy = original;
  auto variable = std::make_shared<VariableState>("w");
  variable->assign(Tensor({2}));
  step(original, {variable}, {Tensor({2})}, 1);
  BOOST_TEST(copy.iterations() == 1);
  const SGD deep = clone(original);
  step(original, {variable}, {Tensor({2})}, 1);
  BOOST_TEST(copy.iterations() == 2);
  BOOST_TEST(deep.iterations() == 1);
}

BOOST_AUTO_TEST_CASE(names_are_keras) {
  for (const char* name : {"sgd", "SGD"}) BOOST_TEST(Any<Optimizer>(name)->learning_rate() == 0.01);
  for (const char* name : {"adam", "Adam"}) BOOST_TEST(Any<Optimizer>(name)->common().weight_decay == 0);
  for (const char* name : {"adamw", "AdamW"}) BOOST_TEST(Any<Optimizer>(name)->common().weight_decay == 0.004);
  BOOST_TEST(refused<NameError>([] { Any<Optimizer>("adamm"); }) ==
             "unknown optimizer \"adamm\"; valid names: Adam, AdamW, SGD, adam, adamw, sgd");
}

BOOST_AUTO_TEST_CASE(bad_options_are_refused) {
  BOOST_TEST(refused_sgd({.learning_rate = -1}) == "[SGD] learning_rate must not be negative; got -1");
  BOOST_TEST(refused_sgd({.momentum = 1.5}) == "[SGD] momentum must lie in [0, 1]; got 1.5");
  BOOST_TEST(refused_sgd({.nesterov = true}) == "[SGD] nesterov needs a momentum above 0; got 0");
  BOOST_TEST(refused_sgd({.weight_decay = -1}) == "[SGD] weight_decay must not be negative; got -1");
  BOOST_TEST(
      refused_sgd({.clipnorm = 1, .clipvalue = 1}) ==
      "[SGD] at most one of clipnorm, clipvalue and global_clipnorm may be set; got clipnorm = 1, clipvalue = 1");
  BOOST_TEST(refused_adam({.beta_1 = 1}) == "[Adam] beta_1 must lie in [0, 1); got 1");
  BOOST_TEST(refused_adam({.beta_2 = -0.1}) == "[Adam] beta_2 must lie in [0, 1); got -0.1");
  BOOST_TEST(refused_adam({.epsilon = -1}) == "[Adam] epsilon must not be negative; got -1");
  BOOST_TEST(refused_adam({.stochastic_rounding = true, .kahan_summation = true}) ==
             "[Adam] at most one of split_master_weights, stochastic_rounding and kahan_summation may be set; got "
             "stochastic_rounding, kahan_summation");
  BOOST_TEST(refused_adam({.state_dtype = DType::float16}) ==
             "[Adam] state_dtype must be float32 or bfloat16; got float16");
  BOOST_TEST(refused_sgd({.state_dtype = DType::bfloat16}) ==
             "[SGD] state_dtype needs slots, so a momentum above 0; got 0");
  BOOST_TEST(refused<ValueError>([] { AdamW({.beta_1 = 2}); }) == "[AdamW] beta_1 must lie in [0, 1); got 2");
}

BOOST_AUTO_TEST_SUITE_END()
