// keras.io/examples/structured_data/imbalanced_classification: see imbalanced_classification.py.
#include <boost/test/unit_test.hpp>

#include "parity/keras_examples/examples.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(imbalanced_classification)

BOOST_AUTO_TEST_CASE(losses_are_those_of_keras) {
  Tensor targets({240, 1}, DType::uint8), features = normal_numbers(1, {240, 6});
  for (std::int64_t i = 5; i < 240; i += 12) {
    targets.mutable_data<std::uint8_t>()[i] = 1;
    for (std::int64_t k = 0; k < 3; ++k) features.mutable_data<float>()[6 * i + k] += 1.5F;
  }
  Tensor train_features = rows(features, 0, 200), val_features = rows(features, 200, 240);
  const Tensor train_targets = rows(targets, 0, 200), val_targets = rows(targets, 200, 240);
  const Tensor counts = bincount(reshape(train_targets, {-1})).tensor();
  const double weight_for_0 = 1.0 / counts.to_doubles()[0];
  const double weight_for_1 = 1.0 / counts.to_doubles()[1];
  const Value center = mean(train_features, {.axes = {0}});
  const Value deviation = sqrt(var(train_features, {.axes = {0}}));
  train_features = ((train_features - center) / deviation).tensor();
  val_features = ((val_features - center) / deviation).tensor();

  Sequential model({
      Input({train_features.shape()[1]}),
      layers::Dense(16, {.activation = "relu"}),
      layers::Dense(16, {.activation = "relu"}),
      layers::Dense(1, {.activation = "sigmoid"}),
  });
  auto expected = example("imbalanced_classification");
  initialize(model, expected["shapes"]);
  model.compile({.optimizer = Adam(1e-2),
                 .loss = "binary_crossentropy",
                 .metrics = {metrics::FalseNegatives({.name = "fn"}), metrics::FalsePositives({.name = "fp"}),
                             metrics::TrueNegatives({.name = "tn"}), metrics::TruePositives({.name = "tp"}),
                             metrics::Precision({.name = "precision"}), metrics::Recall({.name = "recall"})}});
  check_history(model.fit(train_features, train_targets,
                          {.batch_size = 64,
                           .epochs = 4,
                           .verbose = 0,
                           .validation_data = {val_features, val_targets},
                           .shuffle = false,
                           .class_weight = {{0, weight_for_0}, {1, weight_for_1}}}),
                expected["history"]);
}

BOOST_AUTO_TEST_SUITE_END()
