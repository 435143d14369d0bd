// keras.io/examples/vision/mlp_image_classification: see mlp_mixer.py.
#include <boost/test/unit_test.hpp>

#include "parity/keras_examples/examples.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const std::int64_t image_size = 12, patch_size = 4, embedding_dim = 16, num_blocks = 2, num_classes = 4;
const std::int64_t num_patches = (image_size / patch_size) * (image_size / patch_size);

class Patches : public Layer {
 public:
  explicit Patches(std::int64_t size) : Layer("Patches"), size_(size) {}

 protected:
  Value call(const Value& x) override {
    const std::int64_t rows = x.shape()[1] / size_, columns = x.shape()[2] / size_, channels = x.shape()[3];
    const Value split = reshape(x, {-1, rows, size_, columns, size_, channels});
    return reshape(transpose(split, {0, 1, 3, 2, 4, 5}), {-1, rows * columns, size_ * size_ * channels});
  }

 private:
  std::int64_t size_;
};

class MLPMixerLayer : public Layer {
 public:
  MLPMixerLayer(std::int64_t patches, std::int64_t hidden_units)
      : Layer("MLPMixerLayer"),
        mlp1_(sub("mlp1", Sequential({layers::Dense(patches, {.activation = "gelu"}), layers::Dense(patches)}))),
        mlp2_(sub("mlp2", Sequential({layers::Dense(patches, {.activation = "gelu"}), layers::Dense(hidden_units)}))) {}

 protected:
  Value call(const Value& inputs) override {
    // Apply layer normalization.
    Value x = normalize_(inputs);
    // Transpose inputs from [num_batches, num_patches, hidden_units] to [num_batches, hidden_units, num_patches].
    const Value x_channels = transpose(x, {0, 2, 1});
    // Apply mlp1 on each channel independently.
    Value mlp1_outputs = mlp1_(x_channels);
    // Transpose mlp1_outputs from [num_batches, hidden_dim, num_patches] to [num_batches, num_patches, hidden_units].
    mlp1_outputs = transpose(mlp1_outputs, {0, 2, 1});
    // Add skip connection.
    x = mlp1_outputs + inputs;
    // Apply layer normalization.
    const Value x_patches = normalize_(x);
    // Apply mlp2 on each patch independtenly.
    const Value mlp2_outputs = mlp2_(x_patches);
    // Add skip connection.
    return x + mlp2_outputs;
  }

 private:
  Sequential mlp1_, mlp2_;
  LayerNormalization normalize_ = sub("normalize", LayerNormalization({.epsilon = 1e-6}));
};

Model build_classifier(Sequential blocks) {
  const Input inputs({image_size, image_size, 3});
  const Value patches = Patches(patch_size)(inputs);
  Value x = Dense(embedding_dim)(patches);
  x = blocks(x);
  const Value representation = GlobalAveragePooling1D()(x);
  const Value logits = Dense(num_classes)(representation);
  return Model(inputs, logits);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mlp_mixer)

BOOST_AUTO_TEST_CASE(losses_are_those_of_keras) {
  Sequential mlpmixer_blocks;
  for (std::int64_t i = 0; i < num_blocks; ++i) mlpmixer_blocks.add(MLPMixerLayer(num_patches, embedding_dim));
  Model model = build_classifier(mlpmixer_blocks);
  auto expected = example("mlp_mixer");
  initialize(model, expected["shapes"]);
  const auto [x_train, y_train] = pictures(48, image_size, 3);
  model.compile({.optimizer = AdamW(0.005, {.weight_decay = 0.0001}),
                 .loss = SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {SparseCategoricalAccuracy({.name = "acc"}),
                             SparseTopKCategoricalAccuracy({.k = 2, .name = "top2-acc"})}});
  ReduceLROnPlateau reduce_lr({.monitor = "val_loss", .factor = 0.5, .patience = 5});
  EarlyStopping early_stopping({.monitor = "val_loss", .patience = 10, .restore_best_weights = true});
  check_history(model.fit(x_train, y_train,
                          {.batch_size = 16,
                           .epochs = 4,
                           .verbose = 0,
                           .callbacks = {early_stopping, reduce_lr},
                           .validation_split = 1.0 / 3,
                           .shuffle = false}),
                expected["history"]);
}

BOOST_AUTO_TEST_SUITE_END()
