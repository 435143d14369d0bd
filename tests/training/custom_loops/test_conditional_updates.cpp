// Updates with a condition, several of one step, and windows of accumulated gradients.
#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

Variable scalar(const std::string& name, float value) {
  Variable out(name);
  out.assign(Tensor({}, std::vector<float>{value}));
  return out;
}

double number(const Variable& x) { return x.value().item(); }

}  // namespace

BOOST_AUTO_TEST_SUITE(conditional_updates)

BOOST_AUTO_TEST_CASE(a_skipped_update_leaves_weights_moments_and_count) {
  for (const bool compiled : {false, true}) {
    const Variable x = scalar("x", 1);
    SGD optimizer(1.0, {.momentum = 0.5});
    const auto run = [&](const Values& in) {
      const auto [loss, gradients] = value_and_grad({x}, [&] { return in[0] * x; });
      optimizer.apply(gradients, {.condition = greater(in[1], 0)});
      return loss;
    };
    StepFunction step = compile_step(run);
    const auto call = [&](float slope, float applies) {
      const Tensor a({}, std::vector<float>{slope}), b({}, std::vector<float>{applies});
      if (compiled) {
        step({a, b});
      } else {
        run({Value(a), Value(b)});
      }
    };
    call(1, 1);  // momentum -1
    BOOST_TEST(number(x) == 0);
    call(5, 0);
    call(infinity, 0);
    BOOST_TEST(number(x) == 0);
    BOOST_TEST(optimizer.iterations() == 1);
    call(1, 1);  // -0.5 - 1
    BOOST_TEST(number(x) == -1.5);
    BOOST_TEST(optimizer.iterations() == 2);
    BOOST_CHECK_THROW(call(infinity, 1), ValueError);
    BOOST_TEST(number(x) == -1.5);
    BOOST_TEST(optimizer.iterations() == 2);
  }
}

BOOST_AUTO_TEST_CASE(a_step_that_reads_weights_after_a_skipped_update_reads_the_old_ones) {
  const Variable x = scalar("x", 1);
  Adam optimizer(0.25);
  StepFunction step = compile_step([&](const Values& in) {
    const auto [loss, gradients] = value_and_grad({x}, [&] { return in[0] * x; });
    optimizer.apply(gradients, {.condition = greater(in[1], 0)});
    return Values{loss, x * 10.0};
  });
  BOOST_TEST(step({3.0, 0})[1].item() == 10);
  BOOST_TEST(number(x) == 1);
  BOOST_TEST(optimizer.iterations() == 0);
  BOOST_TEST(step({3.0, 1})[1].item() == 7.5, boost::test_tools::tolerance(1e-5));
  BOOST_TEST(number(x) == 0.75, boost::test_tools::tolerance(1e-5));
  BOOST_TEST(optimizer.iterations() == 1);
}

BOOST_AUTO_TEST_CASE(two_updates_of_a_step_have_the_rates_and_counts_of_two_steps) {
  const PiecewiseConstantDecay rates({.boundaries = {0, 1}, .values = {1.0, 0.5, 0.25}});
  for (const float first : {0.0F, 1.0F}) {
    const Variable x = scalar("x", 0);
    SGD optimizer({.learning_rate = rates});
    StepFunction step = compile_step([&](const Values& in) {
      optimizer.apply({{"x", x, in[0]}}, {.condition = greater(in[1], 0)});
      optimizer.apply({{"x", x, in[0]}});
      return in[0];
    });
    step({1.0, first});
    BOOST_TEST(number(x) == (first > 0 ? -1.5 : -1.0));
    BOOST_TEST(optimizer.iterations() == (first > 0 ? 2 : 1));
  }
}

BOOST_AUTO_TEST_CASE(windows_of_gradients_are_averaged) {
  for (const bool compiled : {false, true}) {
    const Variable x = scalar("x", 0);
    SGD optimizer({.learning_rate = 1.0, .gradient_accumulation_steps = 3});
    const auto run = [&](const Values& in) {
      optimizer.apply({{"x", x, in[0]}}, {.condition = isfinite(in[0])});
      return in[0];
    };
    StepFunction step = compile_step(run);
    for (const float slope : {3.0F, infinity, 6.0F, 0.0F, 3.0F}) {  // the second counts for nothing
      const Tensor array({}, std::vector<float>{slope});
      if (compiled) {
        step({array});
      } else {
        run({Value(array)});
      }
    }
    BOOST_TEST(number(x) == -3);
    BOOST_TEST(optimizer.iterations() == 1);
    BOOST_TEST(optimizer.state()->accumulated == 1);
    if (compiled) BOOST_TEST(step.plans() == 2U);
  }
}

BOOST_AUTO_TEST_CASE(moving_statistics_follow_skipped_steps_too) {
  BatchNormalization norm({.momentum = 0.5});
  norm.build({-1, 1});
  SGD optimizer(1.0);
  StepFunction step = compile_step([&](const Values& in) {
    const auto [loss, gradients] = value_and_grad(norm, [&] { return sum(square(norm(in[0]))); });
    optimizer.apply(gradients, {.condition = greater(in[1], 0)});
    return loss;
  });
  step({Tensor({2, 1}, std::vector<float>{2, 6}), 0});
  BOOST_TEST(norm.non_trainable_weights()[0].value().item() == 2);
  BOOST_TEST(optimizer.iterations() == 0);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_refused) {
  const Variable x = scalar("x", 0);
  SGD optimizer(1.0);
  const Gradients gradients{{"x", x, Value(Tensor(Shape{}))}};
  BOOST_TEST(refused<ShapeError>([&] { optimizer.apply(gradients, {.condition = Value(1.0)}); }) ==
             "[SGD] apply: condition must be bool of shape (); got float64 of shape ()");
  BOOST_TEST(refused<ValueError>([&] { optimizer.apply(Gradients()); }) ==
             "[SGD] apply: there must be a gradient; got none");
  BOOST_TEST(refused<ValueError>([&] {
               optimizer.apply(Gradients{{"x", x, {}}});
             }) == "[SGD] apply: there must be a gradient; got undefined ones");
  SGD windows({.learning_rate = 1.0, .gradient_accumulation_steps = 2});
  StepFunction twice = compile_step([&](const Values& in) {
    windows.apply({{"x", x, in[0]}});
    windows.apply({{"x", x, in[0]}});
    return in[0];
  });
  BOOST_TEST(refused<ValueError>([&] { twice({1.0}); }) ==
             "[SGD] apply must be called once per step if gradients are accumulated, since windows count steps; got a "
             "second call and windows of 2 steps");
}

BOOST_AUTO_TEST_SUITE_END()
