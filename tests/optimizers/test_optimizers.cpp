#include <boost/test/unit_test.hpp>

#include <cmath>

#include <mezzo/mezzo.hpp>

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
  auto variable = std::make_shared<detail::VariableState>("w");
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
    auto variable = std::make_shared<detail::VariableState>("w");
    variable->assign(Tensor({4}, DType::bfloat16));
    Adam adam(options);
    for (int i = 0; i < 10; ++i) step(adam, {variable}, {random_tensor({4}, DType::bfloat16, 1, 0.5, 1)}, 1);
    for (const double w : variable->value.to_doubles()) BOOST_TEST(std::abs(w + 0.01) < 0.001);
  }
}

// The same for momentum: 0.999 in bfloat16 is 1, and the velocity would never decay.
BOOST_AUTO_TEST_CASE(momentum_of_0_999_fades_for_bfloat16_variables) {
  auto variable = std::make_shared<detail::VariableState>("w");
  variable->assign(Tensor({1}, DType::bfloat16));
  SGD sgd({.learning_rate = 1, .momentum = 0.999});
  step(sgd, {variable}, {Tensor({1}, std::vector<float>{1}).cast(DType::bfloat16)}, 1);
  for (int i = 0; i < 1000; ++i) step(sgd, {variable}, {Tensor({1}, DType::bfloat16)}, 1);
  const detail::VariableState& velocity = *sgd.state()->slots.at(0).values.at(0);
  BOOST_TEST((velocity.value.dtype() == DType::float32));
  BOOST_TEST(velocity.value.item() == -std::pow(0.999, 1000), boost::test_tools::tolerance(1e-4));
}

// beta_2 rounded to bfloat16 is 1. Moments are rounded stochastically, so their expected values are exact.
BOOST_AUTO_TEST_CASE(states_in_bfloat16_follow_small_changes_on_average) {
  constexpr std::int64_t size = 4096;
  auto variable = std::make_shared<detail::VariableState>("w");
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
    auto whole = std::make_shared<detail::VariableState>("w"), split = std::make_shared<detail::VariableState>("w");
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
  options.name = "mine";
  options.groups = {{.match = ".*", .learning_rate_factor = 0.5}};
  const OptimizerCommon plain = O(options).common();
  BOOST_TEST(O(options).name() == "mine");
  BOOST_TEST(plain.groups.size() == 1U);
  const OptimizerCommon averaging = [&] {
    Options changed = options;
    changed.use_ema = true;
    changed.ema_momentum = 0.5;
    changed.ema_overwrite_frequency = 3;
    changed.gradient_accumulation_steps = 4;
    return O(changed).common();
  }();
  BOOST_TEST(averaging.use_ema);
  BOOST_TEST(averaging.ema_momentum == 0.5);
  BOOST_TEST(averaging.ema_overwrite_frequency == 3);
  BOOST_TEST(averaging.gradient_accumulation_steps == 4);
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
  check_common_options<Adadelta, AdadeltaOptions>();
  check_common_options<Adafactor, AdafactorOptions>();
  check_common_options<Adagrad, AdagradOptions>();
  check_common_options<Adamax, AdamaxOptions>();
  check_common_options<Ftrl, FtrlOptions>();
  check_common_options<LARS, LARSOptions>();
  check_common_options<Lamb, LambOptions>();
  check_common_options<Lion, LionOptions>();
  check_common_options<Muon, MuonOptions>();
  check_common_options<Nadam, NadamOptions>();
  check_common_options<RMSprop, RMSpropOptions>();
  check_common_options<ScheduleFreeAdamW, ScheduleFreeAdamWOptions>();
  const auto bfloat16 = DType::bfloat16;
  BOOST_TEST((SGD({.momentum = 0.9, .state_dtype = bfloat16}).common().state_dtype == bfloat16));
  BOOST_TEST((Adam({.state_dtype = bfloat16}).common().state_dtype == bfloat16));
  BOOST_TEST((AdamW({.state_dtype = bfloat16}).common().state_dtype == bfloat16));
}

BOOST_AUTO_TEST_CASE(copies_share_slots_and_clones_do_not) {
  SGD original({.momentum = 0.9});
  const SGD copy = original;
  auto variable = std::make_shared<detail::VariableState>("w");
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
  BOOST_TEST(
      refused<NameError>([] { Any<Optimizer>("adamm"); }) ==
      "unknown optimizer \"adamm\"; valid names: Adadelta, Adafactor, Adagrad, Adam, AdamW, Adamax, Ftrl, LARS, Lamb, "
      "Lion, Muon, Nadam, RMSprop, SGD, ScheduleFreeAdamW, adadelta, adafactor, adagrad, adam, adamax, adamw, "
      "ftrl, lamb, lars, lion, muon, nadam, rmsprop, schedulefreeadamw, sgd; nearest: \"adam\"");
  BOOST_TEST(Any<Optimizer>("schedulefreeadamw")->learning_rate() == 0.0025);
}

BOOST_AUTO_TEST_CASE(learning_rates_come_first) {
  BOOST_TEST(Adam(0.5).learning_rate() == 0.5);
  const AdamW adamw(CosineDecay(0.5, 10), {.beta_1 = 0.8});
  BOOST_TEST(adamw.learning_rate() == 0.5);
  BOOST_TEST(adamw.common().weight_decay == 0.004);
  BOOST_TEST(RMSprop(1, {.momentum = 0.5}).slot_names().size() == 2U);
  BOOST_TEST(Lion([](std::int64_t) { return 0.25; }).learning_rate() == 0.25);
  BOOST_TEST(refused<ValueError>([] { Adam(0.5, {.learning_rate = 0.5}); }) ==
             "[Adam] learning_rate must be given once; got it as the first argument and as .learning_rate");
  BOOST_TEST(refused<ValueError>([] { SGD(-1); }) == "[SGD] learning_rate must not be negative; got -1");
}

BOOST_AUTO_TEST_CASE(the_learning_rate_can_be_set) {
  Adam adam(0.5);
  const Adam copy = adam;
  adam.set_learning_rate(0.25);
  BOOST_TEST(copy.learning_rate() == 0.25);
  adam.reset();
  BOOST_TEST(copy.learning_rate() == 0.25);
  BOOST_TEST(refused<ValueError>([&] { adam.set_learning_rate(-1); }) ==
             "[Adam] set_learning_rate: learning_rate must not be negative; got -1");
  adam.set_learning_rate(CosineDecay(0.125, 10));
  BOOST_TEST(copy.learning_rate() == 0.125);
  BOOST_TEST(refused<ValueError>([&] { adam.set_learning_rate(0.5); }) ==
             "[Adam] set_learning_rate: the learning rate is a Schedule, which a number can't replace; got 0.5");
}

std::shared_ptr<detail::VariableState> variable_of(const std::string& name, const std::vector<float>& numbers) {
  auto variable = std::make_shared<detail::VariableState>(name);
  variable->assign(Tensor({static_cast<std::int64_t>(numbers.size())}, numbers));
  return variable;
}

BOOST_AUTO_TEST_CASE(groups_have_rates_and_decays_of_their_own) {
  const auto kernel = variable_of("dense/kernel", {1, 1}), bias = variable_of("dense/bias", {1, 1});
  SGD sgd({.learning_rate = 0.5,
           .weight_decay = 0.5,
           .groups = {{.match = ".*/bias", .learning_rate_factor = 0.5, .weight_decay = 0}}});
  sgd.require_groups({"dense/kernel", "dense/bias"});
  step(sgd, {kernel, bias}, {Tensor({2}, std::vector<float>{0, 1}), Tensor({2}, std::vector<float>{0, 1})}, 1);
  BOOST_TEST(kernel->value.equal(Tensor({2}, std::vector<float>{0.75F, 0.25F})));
  BOOST_TEST(bias->value.equal(Tensor({2}, std::vector<float>{1, 0.75F})));
  BOOST_TEST(refused<ValueError>([&] { sgd.require_groups({"dense/kernel"}); }) ==
             "[SGD] every group must match a variable; got \".*/bias\", which matches none of: dense/kernel");
  const SGD twice({.groups = {{.match = ".*"}, {.match = "a.*"}}});
  BOOST_TEST(refused<ValueError>([&] { twice.require_groups({"ab"}); }) ==
             "[SGD] a variable may be in one group; got \"ab\", which \".*\" and \"a.*\" match");
  BOOST_TEST(refused_sgd({.groups = {{.match = "(a)\\1"}}}) ==
             "[SGD] matches of groups must be regular expressions; got \"(a)\\1\": invalid escape \\1; back references "
             "are not supported");
  BOOST_TEST(refused<ValueError>([] { Muon({.exclude_layers = {"a("}}); }) ==
             "[Muon] exclude_layers must be regular expressions; got \"a(\": missing ): a(");
  BOOST_TEST(refused<ValueError>([] {
               SGD({.groups = {{.match = "(a*)*b"}}}).require_groups({std::string(50'000, 'a')});
             }).find("[SGD] every group must match a variable; got \"(a*)*b\"") == 0U);
  BOOST_TEST(refused_sgd({.groups = {{.match = ""}}}) == "[SGD] every group must have a match; got one without");
  BOOST_TEST(refused_sgd({.groups = {{.match = "a", .learning_rate_factor = -1}}}) ==
             "[SGD] learning_rate_factor of a group must not be negative; got -1");
}

BOOST_AUTO_TEST_CASE(variables_are_excluded_from_weight_decay) {
  const auto kernel = variable_of("dense/kernel", {1}), bias = variable_of("dense/bias", {1}),
             gamma = variable_of("norm/gamma", {1});
  SGD sgd(0.5, {.weight_decay = 0.5});
  sgd.exclude_from_weight_decay(
      {.var_list = {Variable(detail::Shared<detail::VariableState>(gamma))}, .var_names = {"bias"}});
  step(sgd, {kernel, bias, gamma}, {Tensor({1}), Tensor({1}), Tensor({1})}, 1);
  BOOST_TEST(kernel->value.item() == 0.75);
  BOOST_TEST(bias->value.item() == 1);
  BOOST_TEST(gamma->value.item() == 1);
  BOOST_TEST(refused<ValueError>([&] { sgd.exclude_from_weight_decay({}); }) ==
             "[SGD] exclude_from_weight_decay must be called before the first update; got a call after 1");
}

BOOST_AUTO_TEST_CASE(averages_are_swapped_with_weights) {
  const auto w = variable_of("w", {1});
  SGD sgd(1, {.use_ema = true, .ema_momentum = 0.5});
  for (int i = 0; i < 2; ++i) step(sgd, {w}, {Tensor({1}, std::vector<float>{1})}, 1);
  BOOST_TEST(w->value.item() == -1);
  BOOST_TEST(sgd.variables().size() == 1U);
  sgd.swap_averages();
  BOOST_TEST(w->value.item() == -0.5);
  BOOST_TEST(refused<ValueError>([&] { sgd.require_trainable(); }) ==
             "[SGD] weights must be swapped back by swap_averages() before training goes on; got their averages");
  sgd.swap_averages();
  BOOST_TEST(w->value.item() == -1);
  sgd.require_trainable();
  sgd.finalize_variable_values();
  BOOST_TEST(w->value.item() == -0.5);
  SGD plain;
  BOOST_TEST(refused<ValueError>([&] { plain.swap_averages(); }) ==
             "[SGD] swap_averages needs use_ema; got an optimizer without");
}

BOOST_AUTO_TEST_CASE(bad_options_of_other_optimizers_are_refused) {
  BOOST_TEST(refused<ValueError>([] { Lion({.beta_1 = 0}); }) == "[Lion] beta_1 must lie in (0, 1]; got 0");
  BOOST_TEST(refused<ValueError>([] { Ftrl({.learning_rate_power = 1}); }) ==
             "[Ftrl] learning_rate_power must be at most 0; got 1");
  BOOST_TEST(refused<ValueError>([] { RMSprop({.rho = 1}); }) == "[RMSprop] rho must lie in [0, 1); got 1");
  BOOST_TEST(refused<ValueError>([] { Muon({.ns_steps = 0}); }) == "[Muon] ns_steps must be at least 1; got 0");
  BOOST_TEST(refused<ValueError>([] { Adafactor({.clip_threshold = 0}); }) ==
             "[Adafactor] clip_threshold must be above 0; got 0");
  BOOST_TEST(refused<ValueError>([] { Adafactor({.clip_threshold = INFINITY}); }) ==
             "[Adafactor] clip_threshold must be finite; got inf");
  BOOST_TEST(refused<ValueError>([] { Adafactor({.beta_2_decay = -INFINITY}); }) ==
             "[Adafactor] beta_2_decay must be finite; got -inf");
  BOOST_TEST(refused<ValueError>([] { Muon({.adam_lr_ratio = INFINITY}); }) ==
             "[Muon] adam_lr_ratio must be finite; got inf");
  BOOST_TEST(refused<ValueError>([] { Muon({.rms_rate = INFINITY}); }) == "[Muon] rms_rate must be finite; got inf");
  BOOST_TEST(refused<ValueError>([] { LARS({.momentum = 0, .nesterov = true}); }) ==
             "[LARS] nesterov needs a momentum above 0; got 0");
  BOOST_TEST(refused<ValueError>([] { Nadam({.ema_overwrite_frequency = 2}); }) ==
             "[Nadam] ema_momentum and ema_overwrite_frequency need use_ema; got them without");
  BOOST_TEST(refused<ValueError>([] { Adamax({.use_ema = true, .ema_momentum = 2, .name = "b"}); }) ==
             "[Adamax \"b\"] ema_momentum must lie in [0, 1]; got 2");
  BOOST_TEST(refused<ValueError>([] { Adagrad({.gradient_accumulation_steps = 1}); }) ==
             "[Adagrad] gradient_accumulation_steps must be at least 2; got 1");
}

BOOST_AUTO_TEST_CASE(bad_options_are_refused) {
  BOOST_TEST(refused_sgd({.learning_rate = -1}) == "[SGD] learning_rate must not be negative; got -1");
  BOOST_TEST(refused_sgd({.learning_rate = INFINITY}) == "[SGD] learning_rate must be finite; got inf");
  BOOST_TEST(refused_sgd({.learning_rate = NAN}) == "[SGD] learning_rate must be finite; got nan");
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
             "[Adam] state_dtype must be float32, bfloat16 or int8; got float16");
  BOOST_TEST(refused_sgd({.state_dtype = DType::bfloat16}) ==
             "[SGD] state_dtype needs slots, so a momentum above 0; got 0");
  BOOST_TEST(refused<ValueError>([] { AdamW({.beta_1 = 2}); }) == "[AdamW] beta_1 must lie in [0, 1); got 2");
}

BOOST_AUTO_TEST_SUITE_END()
