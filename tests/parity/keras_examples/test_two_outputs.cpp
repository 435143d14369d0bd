// keras.io/guides/training_with_built_in_methods, a model with two outputs: see two_outputs.py.
#include <boost/test/unit_test.hpp>

#include "parity/keras_examples/examples.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(two_outputs)

BOOST_AUTO_TEST_CASE(losses_are_those_of_keras) {
  const Input image_input({12, 12, 3}, {.name = "img_input"});
  Value x = layers::Conv2D(8, 3, {.activation = "relu"})(image_input);
  x = layers::GlobalAveragePooling2D()(x);
  const Value score_output = layers::Dense(1, {.name = "score_output"})(x);
  const Value class_output = layers::Dense(4, {.activation = "softmax", .name = "class_output"})(x);
  Model model(image_input, {score_output, class_output});
  auto expected = example("two_outputs");
  initialize(model, expected["shapes"]);
  model.compile({
      .optimizer = RMSprop(1e-2),
      .loss = {{"score_output", MeanSquaredError()}, {"class_output", CategoricalCrossentropy()}},
      .loss_weights = {{"score_output", 2.0}, {"class_output", 1.0}},
      .metrics = {{"score_output", {metrics::MeanAbsolutePercentageError(), metrics::MeanAbsoluteError()}},
                  {"class_output", {metrics::CategoricalAccuracy()}}},
  });
  const auto [img_data, kinds] = pictures(32, 12, 3);
  const Tensor score_targets = (sum(img_data, {.axes = {1, 2, 3}}) / 100).tensor().reshape({32, 1});
  const Tensor class_targets = one_hot(kinds, 4).tensor();
  check_history(model.fit({{"img_input", img_data}}, {{"score_output", score_targets}, {"class_output", class_targets}},
                          {.batch_size = 8, .epochs = 4, .verbose = 0, .shuffle = false}),
                expected["history"]);
}

BOOST_AUTO_TEST_SUITE_END()
