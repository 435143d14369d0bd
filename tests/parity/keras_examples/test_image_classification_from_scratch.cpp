// keras.io/examples/vision/image_classification_from_scratch: see image_classification_from_scratch.py.
#include <boost/test/unit_test.hpp>

#include "parity/keras_examples/examples.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Model make_model(const Shape& input_shape, std::int64_t num_classes) {
  const Input inputs(input_shape);

  // Entry block
  Value x = layers::Rescaling(1.0 / 255)(inputs);
  x = layers::Conv2D(8, 3, {.strides = 2, .padding = "same"})(x);
  x = layers::BatchNormalization()(x);
  x = layers::Activation("relu")(x);

  Value previous_block_activation = x;  // Set aside residual

  for (const int size : {16, 24}) {
    x = layers::Activation("relu")(x);
    x = layers::SeparableConv2D(size, 3, {.padding = "same"})(x);
    x = layers::BatchNormalization()(x);

    x = layers::Activation("relu")(x);
    x = layers::SeparableConv2D(size, 3, {.padding = "same"})(x);
    x = layers::BatchNormalization()(x);

    x = layers::MaxPooling2D(3, {.strides = 2, .padding = "same"})(x);

    // Project residual
    const Value residual = layers::Conv2D(size, 1, {.strides = 2, .padding = "same"})(previous_block_activation);
    x = layers::add({x, residual});  // Add back residual
    previous_block_activation = x;   // Set aside next residual
  }

  x = layers::SeparableConv2D(32, 3, {.padding = "same"})(x);
  x = layers::BatchNormalization()(x);
  x = layers::Activation("relu")(x);

  x = layers::GlobalAveragePooling2D()(x);
  const std::int64_t units = num_classes == 2 ? 1 : num_classes;

  x = layers::Dropout(0.0)(x);
  // Without an activation it returns logits
  const Value outputs = layers::Dense(units)(x);
  return Model(inputs, outputs);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(image_classification_from_scratch)

BOOST_AUTO_TEST_CASE(losses_are_those_of_keras) {
  const auto [pixels, kinds] = pictures(48, 16, 3);
  const Tensor images = (255 * pixels).tensor(), labels = floor_divide(kinds, 2).tensor();
  std::vector<Any<Layer>> data_augmentation_layers = {
      layers::RandomRotation({.factor = {0.05, 0.05}, .fill_mode = "nearest"})};

  const auto data_augmentation = [&](Value x) {
    for (const Any<Layer>& layer : data_augmentation_layers) x = layer(x);
    return x;
  };

  // Apply `data_augmentation` to the training images.
  const Tensor x_train = data_augmentation(images(slice(32))).tensor(), y_train = labels(slice(32));
  Model model = make_model({16, 16, 3}, 2);
  auto expected = example("image_classification_from_scratch");
  initialize(model, expected["shapes"]);
  model.compile({
      .optimizer = optimizers::Adam(3e-4),
      .loss = losses::BinaryCrossentropy({.from_logits = true}),
      .metrics = {metrics::BinaryAccuracy({.name = "acc"})},
  });
  const ValidationData val_ds = {images(slice(32, 48)), labels(slice(32, 48))};
  check_history(model.fit(x_train, y_train,
                          {.batch_size = 8, .epochs = 3, .verbose = 0, .validation_data = val_ds, .shuffle = false}),
                expected["history"]);
  const Tensor predictions = model.predict(images(slice(1)));
  const double score = sigmoid(predictions(0, 0)).item();
  check_number("score", score, expected["score"]);
}

BOOST_AUTO_TEST_SUITE_END()
