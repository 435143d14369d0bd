// keras.io/examples/vision/mnist_convnet: see mnist_convnet.py.
#include <boost/test/unit_test.hpp>

#include "parity/keras_examples/examples.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(mnist_convnet)

BOOST_AUTO_TEST_CASE(losses_are_those_of_keras) {
  // Model / data parameters
  const std::int64_t num_classes = 4;
  const Shape input_shape = {12, 12, 1};
  const auto [pixels, kinds] = pictures(60, 12);
  const Tensor images = floor(255 * pixels(all, all, all, 0)).tensor().cast(DType::uint8);
  Tensor x_train = images(slice(48)), y_train = kinds(slice(48));
  Tensor x_test = images(slice(48, 60)), y_test = kinds(slice(48, 60));

  // docs: begin
  // Scale images to the [0, 1] range
  x_train = (x_train.cast(DType::float32) / 255).tensor();
  x_test = (x_test.cast(DType::float32) / 255).tensor();
  // Make sure images have shape (12, 12, 1)
  x_train = expand_dims(x_train, -1).tensor();
  x_test = expand_dims(x_test, -1).tensor();
  // convert class vectors to binary class matrices
  y_train = to_categorical(y_train, num_classes);
  y_test = to_categorical(y_test, num_classes);
  // docs: end

  // docs: begin
  Sequential model({
      Input(input_shape),
      layers::Conv2D(8, {.kernel_size = {3, 3}, .activation = "relu"}),
      layers::MaxPooling2D({.pool_size = {2, 2}}),
      layers::Conv2D(16, {.kernel_size = {3, 3}, .activation = "relu"}),
      layers::MaxPooling2D({.pool_size = {2, 2}}),
      layers::Flatten(),
      layers::Dropout(0.0),
      layers::Dense(num_classes, {.activation = "softmax"}),
  });
  model.compile({.optimizer = "adam", .loss = "categorical_crossentropy", .metrics = {"accuracy"}});
  // docs: end
  auto expected = example("mnist_convnet");
  initialize(model, expected["shapes"]);
  // docs: begin
  const History history = model.fit(
      x_train, y_train, {.batch_size = 8, .epochs = 3, .verbose = 0, .validation_split = 0.25, .shuffle = false});
  const Logs score = model.evaluate(x_test, y_test, {.verbose = 0});
  const double test_loss = score["loss"];
  // docs: end
  check_history(history, expected["history"]);
  check_logs(score, expected["test"]);
  check_number("loss", test_loss, expected["test"]["loss"]);
}

BOOST_AUTO_TEST_SUITE_END()
