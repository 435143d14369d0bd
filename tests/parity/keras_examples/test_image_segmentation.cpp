// keras.io/examples/vision/oxford_pets_image_segmentation: see image_segmentation.py.
#include <boost/test/unit_test.hpp>

#include "parity/keras_examples/examples.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const std::int64_t img_size = 16, num_classes = 3, batch_size = 8;

Model get_model() {
  const Input inputs({img_size, img_size, 3});

  // [First half of the network: downsampling inputs]

  // Entry block
  Value x = layers::Conv2D(8, 3, {.strides = 2, .padding = "same"})(inputs);
  x = layers::BatchNormalization()(x);
  x = layers::Activation("relu")(x);

  Value previous_block_activation = x;  // Set aside residual

  // Blocks 1, 2 are identical apart from the feature depth.
  for (const int filters : {12, 16}) {
    x = layers::Activation("relu")(x);
    x = layers::SeparableConv2D(filters, 3, {.padding = "same"})(x);
    x = layers::BatchNormalization()(x);

    x = layers::Activation("relu")(x);
    x = layers::SeparableConv2D(filters, 3, {.padding = "same"})(x);
    x = layers::BatchNormalization()(x);

    x = layers::MaxPooling2D(3, {.strides = 2, .padding = "same"})(x);

    // Project residual
    const Value residual = layers::Conv2D(filters, 1, {.strides = 2, .padding = "same"})(previous_block_activation);
    x = layers::add({x, residual});  // Add back residual
    previous_block_activation = x;   // Set aside next residual
  }

  // [Second half of the network: upsampling inputs]

  for (const int filters : {16, 12, 8}) {
    x = layers::Activation("relu")(x);
    x = layers::Conv2DTranspose(filters, 3, {.padding = "same"})(x);
    x = layers::BatchNormalization()(x);

    x = layers::Activation("relu")(x);
    x = layers::Conv2DTranspose(filters, 3, {.padding = "same"})(x);
    x = layers::BatchNormalization()(x);

    x = layers::UpSampling2D(2)(x);

    // Project residual
    Value residual = layers::UpSampling2D(2)(previous_block_activation);
    residual = layers::Conv2D(filters, 1, {.padding = "same"})(residual);
    x = layers::add({x, residual});  // Add back residual
    previous_block_activation = x;   // Set aside next residual
  }

  // Add a per-pixel classification layer
  const Value outputs = layers::Conv2D(num_classes, 3, {.padding = "same", .activation = "softmax"})(x);

  // Define the model
  return Model(inputs, outputs);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(image_segmentation)

BOOST_AUTO_TEST_CASE(losses_are_those_of_keras) {
  const Tensor images = pictures(32, 16, 3).images;
  // Background, shape, and the right half of shapes.
  const Value shapes = cast(images(ellipsis, slice(1)) > 0.4, DType::uint8);
  const Tensor masks = concatenate({shapes(all, all, slice(8)), shapes(all, all, slice(8, std::nullopt)) * 2}, 2);
  const Tensor train_input_imgs = rows(images, 0, 24), val_input_imgs = rows(images, 24, 32);
  const Tensor train_target_masks = rows(masks, 0, 24), val_target_masks = rows(masks, 24, 32);

  // Build model
  Model model = get_model();
  auto expected = example("image_segmentation");
  initialize(model, expected["shapes"]);

  // Configure the model for training.
  // We use the "sparse" version of categorical_crossentropy because our target data is integers.
  // Not Adam: it turns the rounding errors of gradients that are zero, of biases before BatchNormalization, into steps.
  model.compile({.optimizer = SGD(0.01), .loss = "sparse_categorical_crossentropy"});

  // Train the model, doing validation at the end of each epoch.
  const int epochs = 3;
  check_history(model.fit(train_input_imgs, train_target_masks,
                          {.batch_size = batch_size,
                           .epochs = epochs,
                           .verbose = 0,
                           .validation_data = {val_input_imgs, val_target_masks},
                           .shuffle = false}),
                expected["history"]);

  // Generate predictions for all images in the validation set
  const Tensor val_preds = model.predict(val_input_imgs);
  const Value mask = expand_dims(argmax(val_preds, -1), -1);
  const Value right = mean(cast(equal(mask, cast(val_target_masks, mask.dtype())), DType::float32));
  check_number("share of right pixels", right.item(), expected["right"]);
}

BOOST_AUTO_TEST_SUITE_END()
