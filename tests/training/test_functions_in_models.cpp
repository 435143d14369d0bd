#include <boost/test/unit_test.hpp>

#include <cmath>

#include <mezzo/layers/activations/activation.hpp>
#include <mezzo/layers/core/dense.hpp>
#include <mezzo/layers/core/lambda.hpp>
#include <mezzo/ops/grad.hpp>
#include <mezzo/ops/image.hpp>
#include <mezzo/ops/index.hpp>
#include <mezzo/ops/numpy.hpp>
#include <mezzo/ops/random.hpp>
#include <mezzo/optimizers/sgd.hpp>
#include <mezzo/training/model/model.hpp>
#include <mezzo/training/model/sequential.hpp>

using namespace mezzo;

// Functions that depend on the run, in models whose batch size is not known when they are built.

BOOST_AUTO_TEST_SUITE(functions_in_models)

BOOST_AUTO_TEST_CASE(random_numbers_differ_from_step_to_step) {
  const Input x({4});
  const Lambda noisy([](const Value& v) { return v * 0 + random::normal(v); });
  const Value y = Lambda(noisy)(x);
  BOOST_TEST((y.shape() == Shape{-1, 4}));
  Model model(x, y);
  const Tensor first = model.predict(ones({3, 4})), second = model.predict(ones({5, 4}));
  BOOST_TEST((first.shape() == Shape{3, 4}));
  BOOST_TEST((second.shape() == Shape{5, 4}));
  BOOST_TEST(!first(0).equal(first(1)));

  // The weights stay as they are, so the loss differs by the noise alone.
  Model trained(x, Dense(1)(y));
  trained.compile({.optimizer = SGD(1e-30), .loss = "mse"});
  const double loss1 = trained.train_on_batch(ones({3, 4}), zeros({3, 1}))["loss"];
  const double loss2 = trained.train_on_batch(ones({3, 4}), zeros({3, 1}))["loss"];
  BOOST_TEST(loss1 != loss2);
}

BOOST_AUTO_TEST_CASE(images_indices_and_gradients) {
  const Input x({4, 4, 1});
  const Value small = Lambda([](const Value& v) { return image::resize(v, {2, 2}); })(x);
  BOOST_TEST((small.shape() == Shape{-1, 2, 2, 1}));
  const Value corner = Lambda([](const Value& v) { return v(all, 0, slice(1, 2), 0); })(small);
  BOOST_TEST((corner.shape() == Shape{-1, 1}));
  const Value slope = Lambda(detail::LambdaFunction(grad([](const Value& v) { return sum(v * v); })))(corner);
  Model model(x, slope);
  Tensor pixels = arange(32).cast(DType::float32).reshape({2, 4, 4, 1});
  const std::vector<double> numbers = model.predict(pixels).to_doubles();
  // Bilinear without antialias: the mean of pixels (0..1, 2..3) of each image, here 4.5 and 20.5; the slope is twice
  // that.
  BOOST_TEST((numbers == std::vector<double>{9, 41}));
  try {
    x(2);
    BOOST_ERROR("nothing was thrown");
  } catch (const ShapeError& e) {
    BOOST_TEST(std::string(e.what()) ==
               "[get_item] axis 0 has no known size and takes `all` only; got shape (?, 4, 4, 1)");
  }
}

// <cmath> declares ::tanh and ::exp for numbers.
BOOST_AUTO_TEST_CASE(functions_with_names_of_c) {
  Sequential model({Input({2}), Activation(tanh), Activation({.activation = exp}), Lambda(tanh),
                    Lambda({.function = sin}), Dense(1, {.activation = tanh})});
  const Tensor y = Sequential({Input({1}), Activation(tanh), Lambda({.function = exp})}).predict(zeros({1, 1}));
  BOOST_TEST(y.item() == 1);
  BOOST_TEST((model.predict(zeros({3, 2})).shape() == Shape{3, 1}));
  BOOST_TEST(!ActivationFunction(nullptr).given());
}

BOOST_AUTO_TEST_SUITE_END()
