// keras.io/examples/generative/neural_style_transfer: see neural_style_transfer.py.
#include <boost/test/unit_test.hpp>

#include "parity/keras_examples/examples.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// Weights of the different loss components
const double total_variation_weight = 1e-2;
const double style_weight = 1e-1;
const double content_weight = 1.0;
// Dimensions of the generated picture.
const std::int64_t img_nrows = 12, img_ncols = 12;

Model network() {
  const Input inputs({img_nrows, img_ncols, 3});
  Value x = layers::Conv2D(8, 3, {.padding = "same", .activation = "relu", .name = "block1_conv1"})(inputs);
  x = layers::AveragePooling2D(2, {.name = "block1_pool"})(x);
  x = layers::Conv2D(12, 3, {.padding = "same", .activation = "relu", .name = "block2_conv1"})(x);
  x = layers::Conv2D(12, 3, {.padding = "same", .activation = "relu", .name = "block2_conv2"})(x);
  return Model(inputs, x);
}

// The gram matrix of an image tensor (feature-wise outer product)
Value gram_matrix(Value x) {
  x = transpose(x, {2, 0, 1});
  const Value features = reshape(x, {x.shape()[0], -1});
  return matmul(features, transpose(features));
}

// The "style loss" is designed to maintain the style of the reference image in the generated image.
Value style_loss(const Value& style, const Value& combination) {
  const Value s = gram_matrix(style);
  const Value c = gram_matrix(combination);
  const double channels = 3, size = img_nrows * img_ncols;
  return sum(square(s - c)) / (4.0 * (channels * channels) * (size * size));
}

// An auxiliary loss function designed to maintain the "content" of the base image in the generated image
Value content_loss(const Value& base, const Value& combination) { return sum(square(combination - base)); }

// The 3rd loss function, total variation loss, designed to keep the generated image locally coherent
Value total_variation_loss(const Value& x) {
  const Slice upper = slice(img_nrows - 1), left = slice(img_ncols - 1), from_1 = slice(1, std::nullopt);
  const Value a = square(x(all, upper, left, all) - x(all, from_1, left, all));
  const Value b = square(x(all, upper, left, all) - x(all, upper, from_1, all));
  return sum(power(a + b, 1.25));
}

// List of layers to use for the style loss.
const std::vector<std::string> style_layer_names{"block1_conv1", "block2_conv1"};
// The layer to use for the content loss.
const std::string content_layer_name = "block2_conv2";

}  // namespace

BOOST_AUTO_TEST_SUITE(neural_style_transfer)

BOOST_AUTO_TEST_CASE(losses_are_those_of_keras) {
  Model model = network();
  auto expected = example("neural_style_transfer");
  initialize(model, expected["shapes"]);
  // Get the symbolic outputs of each "key" layer (we gave them unique names).
  Values outputs;
  std::map<std::string, std::size_t> position;
  for (const LayerHandle& layer : model.layers()) {
    position[layer.name()] = outputs.size();
    outputs.push_back(layer.output());
  }
  // Set up a model that returns the activation values for every layer.
  Model feature_extractor(model.inputs(), outputs);
  const auto [images, kinds] = pictures(4, img_nrows, 3);
  const Tensor base_image = rows(images, 0, 1);
  const Tensor style_reference_image = rows(images, 3, 4);
  const Variable combination_image("combination_image");
  combination_image.assign(base_image);

  const auto compute_loss = [&](const Value& combination) {
    const Value input_tensor = concatenate({base_image, style_reference_image, combination}, 0);
    const Values features = feature_extractor(Values{input_tensor});
    // Initialize the loss
    Value loss = zeros({});
    // Add content loss
    const Value content_features = features[position.at(content_layer_name)];
    loss += content_weight * content_loss(content_features(0, all, all, all), content_features(2, all, all, all));
    // Add style loss
    for (const std::string& layer_name : style_layer_names) {
      const Value layer_features = features[position.at(layer_name)];
      const Value style_reference_features = layer_features(1, all, all, all);
      const Value sl = style_loss(style_reference_features, layer_features(2, all, all, all));
      loss += (style_weight / static_cast<double>(style_layer_names.size())) * sl;
    }
    // Add total variation loss
    loss += total_variation_weight * total_variation_loss(combination);
    return loss;
  };

  const auto compute_loss_and_grads = value_and_grad(compute_loss);
  SGD optimizer(ExponentialDecay({.initial_learning_rate = 0.01, .decay_steps = 10, .decay_rate = 0.96}));
  std::vector<double> losses;
  for (int i = 1; i <= 20; ++i) {
    const auto [loss, grads] = compute_loss_and_grads(combination_image);
    optimizer.apply({grads}, {combination_image});
    losses.push_back(loss.item());
  }
  check_numbers("loss", losses, expected["losses"]);
  check_number("brightness", mean(combination_image).item(), expected["brightness"]);
}

BOOST_AUTO_TEST_SUITE_END()
