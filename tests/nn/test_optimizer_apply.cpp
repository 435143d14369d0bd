#include <boost/test/unit_test.hpp>

#include <limits>

#include <mezzo/mezzo.hpp>

#include "support/refused.hpp"

using namespace mezzo;
using mezzo_tests::refused;

namespace {

Variable variable(const std::string& name, const Tensor& numbers) {
  Variable out(name);
  out.assign(numbers);
  return out;
}

std::vector<double> numbers(const Variable& x) { return x.value().to_doubles(); }

}  // namespace

BOOST_AUTO_TEST_SUITE(optimizer_apply)

BOOST_AUTO_TEST_CASE(steps_down_the_gradient_at_the_rate_of_the_schedule) {
  const Variable x = variable("x", array({1.0, 2.0}, DType::float64));
  SGD optimizer(ExponentialDecay({.initial_learning_rate = 0.5, .decay_steps = 1, .decay_rate = 0.5}));
  const auto slope = grad([](const Value& at) { return sum(square(at)); });
  optimizer.apply({slope(x)}, {x});  // x - 0.5 2 x
  BOOST_TEST(numbers(x) == (std::vector<double>{0, 0}));
  optimizer.apply({array({4.0, -8.0}, DType::float64)}, {x});
  BOOST_TEST(numbers(x) == (std::vector<double>{-1, 2}));
  BOOST_TEST(optimizer.iterations() == 2);
}

BOOST_AUTO_TEST_CASE(keeps_slots_between_updates) {
  const Variable x = variable("x", array({0.0}, DType::float64));
  SGD optimizer(1.0, {.momentum = 0.5});
  for (int i = 0; i < 3; ++i) optimizer.apply({array({1.0}, DType::float64)}, {x});
  BOOST_TEST(numbers(x) == (std::vector<double>{-(1 + 1.5 + 1.75)}));
}

BOOST_AUTO_TEST_CASE(clips_by_the_global_norm_of_all_gradients) {
  const Variable x = variable("x", array({0.0}, DType::float64)), y = variable("y", array({0.0}, DType::float64));
  SGD optimizer(1.0, {.global_clipnorm = 1.0});
  optimizer.apply({array({3.0}, DType::float64), array({4.0}, DType::float64)}, {x, y});
  BOOST_TEST(numbers(x)[0] == -0.6, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(numbers(y)[0] == -0.8, boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(accumulates_gradients) {
  const Variable x = variable("x", array({0.0}, DType::float64));
  SGD optimizer(1.0, {.gradient_accumulation_steps = 2});
  optimizer.apply({array({1.0}, DType::float64)}, {x});
  BOOST_TEST(numbers(x) == (std::vector<double>{0}));
  optimizer.apply({array({2.0}, DType::float64)}, {x});
  BOOST_TEST(numbers(x) == (std::vector<double>{-1.5}));
  BOOST_TEST(optimizer.iterations() == 1);
}

BOOST_AUTO_TEST_CASE(projects_weights_by_their_constraints) {
  Dense dense(1, {.use_bias = false, .kernel_initializer = "ones", .kernel_constraint = "non_neg"});
  dense.build({-1, 2});
  SGD optimizer(1.0);
  optimizer.apply({Tensor({2, 1}, std::vector<float>{3, 0.5})}, dense.trainable_variables());
  BOOST_TEST(numbers(dense.weights()[0]) == (std::vector<double>{0, 0.5}));
}

BOOST_AUTO_TEST_CASE(refuses_what_does_not_fit) {
  const Variable x = variable("x", zeros({2}));
  SGD optimizer(1.0);
  BOOST_TEST(refused<ValueError>([&] {
               optimizer.apply(Values{zeros({2})}, {x, x});
             }) == "[SGD] apply: there must be one gradient for each variable; got 1 gradients of 2 variables");
  BOOST_TEST(refused<ValueError>([&] {
               optimizer.apply({zeros({2}), zeros({2})}, {x, x});
             }) == "[SGD] apply: variables must differ; got \"x\" twice");
  BOOST_TEST(refused<ShapeError>([&] { optimizer.apply(Values{zeros({3})}, {x}); }) ==
             "[SGD] apply: the gradient of variable \"x\" must have shape (2,); got (3,)");
  BOOST_TEST(refused<DTypeError>([&] { optimizer.apply(Values{zeros({2}, DType::int32)}, {x}); }) ==
             "[SGD] apply: the gradient of variable \"x\" must be floating; got int32");
  BOOST_TEST(refused<ValueError>([&] { optimizer.apply(Values{Value()}, {x}); }) ==
             "[SGD] apply: the gradient of variable \"x\" must be defined; got an undefined Value");
  BOOST_TEST(refused<ValueError>([&] {
               optimizer.apply(Values{full({2}, std::numeric_limits<double>::quiet_NaN())}, {x});
             }) == "[SGD] apply: the gradient of variable \"x\" must be finite; got NaN or infinity");
  BOOST_TEST(refused<ValueError>([&] { optimizer.apply(Values{zeros({2})}, {Variable("empty")}); }) ==
             "[SGD] apply: variable \"empty\" must have numbers; got none");
  BOOST_TEST(numbers(x) == (std::vector<double>{0, 0}));
  BOOST_TEST(optimizer.iterations() == 0);
}

BOOST_AUTO_TEST_SUITE_END()
