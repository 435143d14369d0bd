#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Sequential lines() {
  Sequential model({Dense({.units = 1, .kernel_initializer = Constant(2), .name = "a"}),
                    Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(5), .name = "b"})});
  model.build({-1, 1});
  return model;
}

const Tensor threes({1, 1}, std::vector<float>{3});

Values weights_of(double a, double bias, double b) {
  const auto scalar = [](double x, const Shape& shape) { return Value(Tensor(shape, std::vector<double>{x})); };
  return {cast(scalar(a, {1, 1}), DType::float32), cast(scalar(bias, {1}), DType::float32),
          cast(scalar(b, {1, 1}), DType::float32)};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(call_with_weights)

BOOST_AUTO_TEST_CASE(a_call_uses_the_given_weights_and_keeps_those_of_the_layer) {
  Sequential model = lines();
  BOOST_TEST(functional_call(model, weights_of(1, 4, 10), threes).item() == 70);
  BOOST_TEST(model(threes).item() == 30);
}

BOOST_AUTO_TEST_CASE(gradients_flow_into_the_given_weights) {
  Sequential model = lines();
  const Values slopes =
      grad([&](const Values& at) { return sum(functional_call(model, at, threes)); })(weights_of(1, 4, 10));
  BOOST_TEST(slopes[0].item() == 30);
  BOOST_TEST(slopes[1].item() == 10);
  BOOST_TEST(slopes[2].item() == 7);
}

BOOST_AUTO_TEST_CASE(functional_models_take_other_weights_too) {
  const Value x = Input({1});
  Dense dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(2)});
  Model model(x, dense(x) + x);
  BOOST_TEST(functional_call(model, {Value(Tensor({1, 1}, std::vector<float>{4}))}, threes).item() == 15);
  BOOST_TEST(model(threes).item() == 9);
}

BOOST_AUTO_TEST_CASE(weights_that_do_not_fit_are_refused) {
  Sequential model = lines();
  const auto text = [&](const Values& weights) {
    return refused<Error>([&] { functional_call(model, weights, threes); });
  };
  Values weights = weights_of(1, 4, 10);
  BOOST_TEST(text({weights[0]}) ==
             "[functional_call] there must be one Value for each of the 3 trainable weights; got 1");
  BOOST_TEST(text({weights[0], weights[0], weights[2]}) ==
             "[functional_call] weight 1, \"bias\", must have shape (1,); got (1, 1)");
  BOOST_TEST(text({weights[0], Value(), weights[2]}) ==
             "[functional_call] weight 1 must be defined; got an undefined Value");
  Dense unbuilt(1);
  BOOST_TEST(refused<ValueError>([&] { functional_call(unbuilt, Values{}, threes); }) ==
             "[functional_call] the layer must be built; got one that was not called yet");
}

BOOST_AUTO_TEST_SUITE_END()
