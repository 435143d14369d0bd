#include <boost/test/unit_test.hpp>

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
             "no optimizer \"adamm\"; there are: Adam, AdamW, SGD, adam, adamw, sgd");
}

BOOST_AUTO_TEST_CASE(bad_options_are_refused) {
  BOOST_TEST(refused_sgd({.learning_rate = -1}) == "[SGD] learning_rate must not be negative");
  BOOST_TEST(refused_sgd({.momentum = 1.5}) == "[SGD] momentum must lie in [0, 1]; got 1.500000");
  BOOST_TEST(refused_sgd({.nesterov = true}) == "[SGD] nesterov needs a momentum above 0");
  BOOST_TEST(refused_sgd({.weight_decay = -1}) == "[SGD] weight_decay must not be negative");
  BOOST_TEST(refused_sgd({.clipnorm = 1, .clipvalue = 1}) ==
             "[SGD] at most one of clipnorm, clipvalue and global_clipnorm may be set");
  BOOST_TEST(refused_adam({.beta_1 = 1}) == "[Adam] beta_1 must lie in [0, 1); got 1.000000");
  BOOST_TEST(refused_adam({.beta_2 = -0.1}) == "[Adam] beta_2 must lie in [0, 1); got -0.100000");
  BOOST_TEST(refused_adam({.epsilon = -1}) == "[Adam] epsilon must not be negative; got -1.000000");
  BOOST_TEST(refused<ValueError>([] { AdamW({.beta_1 = 2}); }) == "[AdamW] beta_1 must lie in [0, 1); got 2.000000");
}

BOOST_AUTO_TEST_SUITE_END()
