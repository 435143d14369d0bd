// keras.io/examples/vision/autoencoder: see autoencoder.py.
#include <boost/test/unit_test.hpp>

#include "parity/keras_examples/examples.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(autoencoder)

BOOST_AUTO_TEST_CASE(losses_are_those_of_keras) {
  const Tensor train_data = pictures(24, 8).images;
  const Tensor noisy_train_data = clip(train_data + 0.4 * normal_numbers(10, train_data.shape()), 0.0, 1.0).tensor();

  const Input input({8, 8, 1});
  // Encoder
  Value x = layers::Conv2D(8, {3, 3}, {.padding = "same", .activation = "relu"})(input);
  x = layers::MaxPooling2D({2, 2}, {.padding = "same"})(x);
  x = layers::Conv2D(8, {3, 3}, {.padding = "same", .activation = "relu"})(x);
  x = layers::MaxPooling2D({2, 2}, {.padding = "same"})(x);
  // Decoder
  x = layers::Conv2DTranspose(8, {3, 3}, {.strides = 2, .padding = "same", .activation = "relu"})(x);
  x = layers::Conv2DTranspose(8, {3, 3}, {.strides = 2, .padding = "same", .activation = "relu"})(x);
  x = layers::Conv2D(1, {3, 3}, {.padding = "same", .activation = "sigmoid"})(x);
  // Autoencoder
  Model autoencoder(input, x);
  autoencoder.compile({.optimizer = "adam", .loss = "binary_crossentropy"});
  auto expected = example("autoencoder");
  initialize(autoencoder, expected["shapes"]);

  check_history(autoencoder.fit(train_data, train_data, {.batch_size = 8, .epochs = 3, .verbose = 0, .shuffle = false}),
                expected["clean"]);
  check_history(autoencoder.fit(noisy_train_data, train_data,
                                {.batch_size = 8,
                                 .epochs = 3,
                                 .verbose = 0,
                                 .validation_data = {rows(noisy_train_data, 0, 8), rows(train_data, 0, 8)},
                                 .shuffle = false}),
                expected["history"]);
  const Tensor predictions = autoencoder.predict(noisy_train_data);
  const double error = mean(square(predictions - Value(train_data))).item();
  BOOST_TEST(std::abs(error - expected["error"].get<double>()) <= 1e-4 * error);
}

BOOST_AUTO_TEST_SUITE_END()
