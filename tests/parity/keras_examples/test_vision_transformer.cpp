// keras.io/examples/vision/image_classification_with_vision_transformer: see vision_transformer.py.
#include <boost/test/unit_test.hpp>

#include "parity/keras_examples/examples.hpp"
#include "support/folder.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const std::int64_t num_classes = 4, batch_size = 16;
const Shape input_shape{10, 10, 3};
const double learning_rate = 0.001, weight_decay = 0.0001;
const int num_epochs = 3;
const std::int64_t image_size = 12;  // We'll resize input images to this size
const std::int64_t patch_size = 4;   // Size of the patches to be extract from the input images
const std::int64_t num_patches = (image_size / patch_size) * (image_size / patch_size);
const std::int64_t projection_dim = 8;
const std::int64_t num_heads = 2;
const Shape transformer_units{projection_dim * 2, projection_dim};  // Size of the transformer layers
const int transformer_layers = 2;
const Shape mlp_head_units{32, 16};  // Size of the dense layers of the final classifier

Value mlp(Value x, const Shape& hidden_units, double dropout_rate) {
  for (const std::int64_t units : hidden_units) {
    x = layers::Dense(units, {.activation = "gelu"})(x);
    x = layers::Dropout(dropout_rate)(x);
  }
  return x;
}

class Patches : public Layer {
 public:
  explicit Patches(std::int64_t size) : Layer("Patches"), size_(size) {}

 protected:
  Value call(const Value& images) override {
    const std::int64_t height = images.shape()[1], width = images.shape()[2], channels = images.shape()[3];
    const std::int64_t num_patches_h = height / size_;
    const std::int64_t num_patches_w = width / size_;
    const Value patches = image::extract_patches(images, size_);
    return reshape(patches, {-1, num_patches_h * num_patches_w, size_ * size_ * channels});
  }

 private:
  std::int64_t size_;
};

class PatchEncoder : public Layer {
 public:
  PatchEncoder(std::int64_t count, std::int64_t dim)
      : Layer("PatchEncoder"),
        num_patches_(count),
        projection_(sub("projection", layers::Dense(dim))),
        position_embedding_(sub("position_embedding", layers::Embedding(count, dim))) {}

 protected:
  Value call(const Value& patch) override {
    const Value positions = expand_dims(arange(0, num_patches_, 1), 0);
    const Value projected_patches = projection_(patch);
    return projected_patches + position_embedding_(positions);
  }

 private:
  std::int64_t num_patches_;
  layers::Dense projection_;
  layers::Embedding position_embedding_;
};

Model create_vit_classifier(Sequential data_augmentation) {
  const Input inputs(input_shape);
  // Augment data.
  const Value augmented = data_augmentation(inputs);
  // Create patches.
  const Value patches = Patches(patch_size)(augmented);
  // Encode patches.
  Value encoded_patches = PatchEncoder(num_patches, projection_dim)(patches);

  // Create multiple layers of the Transformer block.
  for (int i = 0; i < transformer_layers; ++i) {
    // Layer normalization 1.
    const Value x1 = layers::LayerNormalization({.epsilon = 1e-6})(encoded_patches);
    // Create a multi-head attention layer.
    const Value attention_output =
        layers::MultiHeadAttention({.num_heads = num_heads, .key_dim = projection_dim, .dropout = 0})(x1, x1);
    // Skip connection 1.
    const Value x2 = layers::add({attention_output, encoded_patches});
    // Layer normalization 2.
    Value x3 = layers::LayerNormalization({.epsilon = 1e-6})(x2);
    // MLP.
    x3 = mlp(x3, transformer_units, 0);
    // Skip connection 2.
    encoded_patches = layers::add({x3, x2});
  }

  // Create a [batch_size, projection_dim] tensor.
  Value representation = layers::LayerNormalization({.epsilon = 1e-6})(encoded_patches);
  representation = layers::Flatten()(representation);
  representation = layers::Dropout(0)(representation);
  // Add MLP.
  const Value features = mlp(representation, mlp_head_units, 0);
  // Classify outputs.
  const Value logits = layers::Dense(num_classes)(features);
  // Create the Keras model.
  return Model(inputs, logits);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(vision_transformer)

BOOST_AUTO_TEST_CASE(losses_are_those_of_keras) {
  const auto [x, y] = pictures(64, 10, 3);
  const Tensor x_train = rows(x, 0, 48), x_test = rows(x, 48, 64), y_train = rows(y, 0, 48), y_test = rows(y, 48, 64);
  layers::Normalization normalization;
  const Sequential data_augmentation(
      {
          normalization,
          layers::Resizing(image_size, image_size),
      },
      {.name = "data_augmentation"});
  Model model = create_vit_classifier(data_augmentation);
  auto expected = example("vision_transformer");
  initialize(model, expected["shapes"]);
  // Compute the mean and the variance of the training data for normalization.
  normalization.adapt(x_train);

  model.compile({
      .optimizer = AdamW(learning_rate, {.weight_decay = weight_decay}),
      .loss = SparseCategoricalCrossentropy({.from_logits = true}),
      .metrics = {SparseCategoricalAccuracy({.name = "accuracy"}),
                  SparseTopKCategoricalAccuracy({.k = 2, .name = "top-2-accuracy"})},
  });
  const Folder folder;
  const std::string checkpoint_filepath = folder.path("checkpoint.safetensors");
  ModelCheckpoint checkpoint_callback(checkpoint_filepath,
                                      {.monitor = "val_accuracy", .save_best_only = true, .save_weights_only = true});
  check_history(model.fit(x_train, y_train,
                          {.batch_size = batch_size,
                           .epochs = num_epochs,
                           .verbose = 0,
                           .callbacks = {checkpoint_callback},
                           .validation_split = 1.0 / 3,
                           .shuffle = false}),
                expected["history"]);
  model.load_weights(checkpoint_filepath);
  const Logs logs = model.evaluate(x_test, y_test);
  check_number("accuracy", logs["accuracy"], expected["accuracy"]);
  check_number("top-2-accuracy", logs["top-2-accuracy"], expected["top_2_accuracy"]);
}

BOOST_AUTO_TEST_SUITE_END()
