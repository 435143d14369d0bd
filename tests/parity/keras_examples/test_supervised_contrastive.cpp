// keras.io/examples/vision/supervised-contrastive-learning: see supervised_contrastive.py.
#include <boost/test/unit_test.hpp>

#include "parity/keras_examples/examples.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const std::int64_t num_classes = 4, batch_size = 16, hidden_units = 16, projection_units = 8;
const Shape input_shape{12, 12, 3};
const int num_epochs = 3;
const double learning_rate = 0.001, temperature = 0.05;

Model create_encoder() {
  const Input inputs(input_shape);
  Value x = layers::Conv2D(8, 3, {.strides = 2, .padding = "same", .use_bias = false})(inputs);
  x = layers::BatchNormalization()(x);
  x = layers::ReLU()(x);
  x = layers::Conv2D(16, 3, {.padding = "same", .activation = "relu"})(x);
  const Value outputs = layers::GlobalAveragePooling2D()(x);
  return Model(inputs, outputs, {.name = "cifar10-encoder"});
}

Model create_classifier(Model encoder, bool trainable = true) {
  for (LayerHandle& layer : encoder.layers()) layer.set_trainable(trainable);
  const Input inputs(input_shape);
  Value features = encoder(inputs);
  features = layers::Dense(hidden_units, {.activation = "relu"})(features);
  const Value outputs = layers::Dense(num_classes, {.activation = "softmax"})(features);
  Model model(inputs, outputs, {.name = "cifar10-classifier"});
  model.compile({
      .optimizer = Adam(learning_rate),
      .loss = SparseCategoricalCrossentropy(),
      .metrics = {SparseCategoricalAccuracy()},
  });
  return model;
}

Value npairs_loss(Value y_true, const Value& y_pred) {
  // Expand to [batch_size, 1]
  y_true = expand_dims(y_true, -1);
  y_true = cast(equal(y_true, transpose(y_true)), y_pred.dtype());
  y_true /= sum(y_true, {.axes = {1}, .keepdims = true});
  const Value loss = categorical_crossentropy(y_true, y_pred, {.from_logits = true});
  return mean(loss);
}

class SupervisedContrastiveLoss : public Loss {
 public:
  explicit SupervisedContrastiveLoss(double scale = 1) : Loss("supervised_contrastive_loss"), temperature_(scale) {}

  Value call(const Value& labels, const Value& feature_vectors) const override {
    // Normalize feature vectors
    const Value feature_vectors_normalized = normalize(feature_vectors, 1, 2);
    // Compute logits
    const Value logits =
        divide(matmul(feature_vectors_normalized, transpose(feature_vectors_normalized)), temperature_);
    return npairs_loss(squeeze(labels, -1), logits);
  }

 private:
  double temperature_;
};

Model add_projection_head(Model encoder) {
  const Input inputs(input_shape);
  const Value features = encoder(inputs);
  const Value outputs = layers::Dense(projection_units, {.activation = "relu"})(features);
  return Model(inputs, outputs, {.name = "cifar-encoder_with_projection-head"});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(supervised_contrastive)

BOOST_AUTO_TEST_CASE(losses_are_those_of_keras) {
  const auto [x, kinds] = pictures(64, 12, 3);
  const Tensor y = kinds.reshape({-1, 1});
  const Tensor x_train = rows(x, 0, 48), x_test = rows(x, 48, 64), y_train = rows(y, 0, 48), y_test = rows(y, 48, 64);

  const Model encoder = create_encoder();
  Model encoder_with_projection_head = add_projection_head(encoder);
  auto expected = example("supervised_contrastive");
  initialize(encoder_with_projection_head, expected["shapes"]);
  encoder_with_projection_head.compile({
      .optimizer = Adam(learning_rate),
      .loss = SupervisedContrastiveLoss(temperature),
  });
  const FitOptions options{.batch_size = batch_size, .epochs = num_epochs, .verbose = 0, .shuffle = false};
  check_history(encoder_with_projection_head.fit(x_train, y_train, options), expected["contrastive"]);

  Model classifier = create_classifier(encoder, false);
  std::vector<LayerHandle> layers = classifier.layers();
  for (std::size_t i = 1; i < layers.size(); ++i) {
    initialize(layers[i], expected["shapes"], 190 + 10 * static_cast<std::uint32_t>(i));
  }
  check_history(classifier.fit(x_train, y_train, options), expected["history"]);
  check_number("accuracy", classifier.evaluate(x_test, y_test)["sparse_categorical_accuracy"], expected["accuracy"]);
}

BOOST_AUTO_TEST_SUITE_END()
