// CNN, LeNet, MLP: numbers of weights, inputs of other dtypes, errors.
#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "support/refused.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

template <class M>
std::int64_t numbers_for(M model, const Shape& image) {
  const Value output = model(Input({.shape = image}));
  BOOST_TEST((output.shape() == Shape{-1, 10}));
  std::int64_t count = 0;
  for (const Variable& weight : model.trainable_weights()) count += element_count(weight.shape());
  return count;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(small_models)

BOOST_AUTO_TEST_CASE(weights_are_as_many_as_documented) {
  BOOST_TEST(numbers_for(CNN(), {28, 28, 1}) == 34'826);
  BOOST_TEST(numbers_for(LeNet(), {28, 28, 1}) == 61'706);
  BOOST_TEST(numbers_for(MLP(), {28, 28, 1}) == 669'706);
  BOOST_TEST(numbers_for(MLP({.hidden_units = {}}), {784}) == 7'850);
}

BOOST_AUTO_TEST_CASE(pixels_are_scaled) {
  const Tensor pixels = random_tensor({2, 28, 28, 1}, DType::uint8, 1, 0, 256);
  LeNet model;
  const Tensor expected = model.predict(pixels);
  BOOST_TEST(model.predict(pixels.cast(DType::float32)).equal(expected));
  BOOST_TEST(expected.shape() == (Shape{2, 10}), boost::test_tools::per_element());
  LeNet raw({.scale = 1});
  raw.build(pixels.shape());
  const auto from = model.weights(), to = raw.weights();
  for (std::size_t i = 0; i < from.size(); ++i) to[i].assign(from[i].value());
  std::vector<double> scaled = pixels.to_doubles();
  for (double& pixel : scaled) pixel /= 255;
  BOOST_TEST(largest_difference(raw.predict(Tensor(pixels.shape(), scaled).cast(DType::float32)), expected) < 1e-5);
}

BOOST_AUTO_TEST_CASE(an_mlp_takes_any_activation_and_drops_in_training) {
  MLP linear({.hidden_units = {5}, .activation = "linear", .classes = 3});
  MLP squared({.hidden_units = {5}, .activation = [](const Value& x) { return x * x; }, .classes = 3});
  const Tensor x = random_tensor({2, 4});
  linear.build(x.shape());
  squared.build(x.shape());
  const auto from = linear.weights(), to = squared.weights();
  for (std::size_t i = 0; i < from.size(); ++i) to[i].assign(from[i].value());
  BOOST_TEST(!squared.predict(x).equal(linear.predict(x)));
  const Value hidden = matmul(x, from[0].value());
  const Value logits = matmul(hidden * hidden, from[2].value());
  BOOST_TEST(largest_difference(squared.predict(x), logits.tensor()) < 1e-6);

  seed_everything(1);
  MLP dropping({.dropout = 0.9, .classes = 3});
  dropping.compile(
      {.optimizer = SGD({.learning_rate = 0}), .loss = SparseCategoricalCrossentropy({.from_logits = true})});
  const Tensor y({2}, std::vector<std::int64_t>{0, 2});
  const double loss = dropping.fit(x, y, {.verbose = false}).history.at("loss")[0];
  BOOST_TEST(loss != dropping.evaluate(x, y).at("loss"));
}

BOOST_AUTO_TEST_CASE(bad_calls_are_refused) {
  BOOST_TEST(refused<ValueError>([] { LeNet({.classes = 0}); }) == "[LeNet] classes must be at least 1; got 0");
  BOOST_TEST(refused<ShapeError>([] {
               LeNet()(Tensor({1, 32, 32, 1}));
             }) == "[LeNet] images must be 28 x 28; got shape (1, 32, 32, 1)");
  BOOST_TEST(refused<ValueError>([] {
               MLP({.hidden_units = {4, 0}, .name = "net"});
             }) == "[MLP \"net\"] hidden_units must be at least 1; got 0");
  BOOST_TEST(refused<ValueError>([] { MLP({.classes = -1}); }) == "[MLP] classes must be at least 1; got -1");
  BOOST_TEST(refused<ValueError>([] { MLP({.dropout = 1}); }) != "");
}

BOOST_AUTO_TEST_SUITE_END()
