// keras.io/examples/vision/siamese_contrastive: see siamese_contrastive.py.
#include <boost/test/unit_test.hpp>

#include "parity/keras_examples/examples.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const std::int64_t batch_size = 16;

struct Pairs {
  Tensor first, second, labels;
};

Pairs make_pairs(const Tensor& x, const Tensor& y) {
  const auto num_classes = static_cast<std::int32_t>(max(y).item()) + 1;
  std::vector<std::vector<std::int32_t>> digit_indices(static_cast<std::size_t>(num_classes));
  const std::int32_t* digits = y.data<std::int32_t>();
  for (std::int32_t i = 0; i < y.size(); ++i) digit_indices.at(static_cast<std::size_t>(digits[i])).push_back(i);
  std::vector<std::int32_t> first, second;
  std::vector<float> labels;
  const auto add = [&](std::int32_t idx1, std::int32_t digit, std::int32_t place, float label) {
    const std::vector<std::int32_t>& indices = digit_indices.at(static_cast<std::size_t>(digit));
    first.push_back(idx1);
    second.push_back(indices[static_cast<std::size_t>(place) % indices.size()]);
    labels.push_back(label);
  };
  for (std::int32_t idx1 = 0; idx1 < y.size(); ++idx1) {
    const std::int32_t label1 = digits[idx1];
    add(idx1, label1, 5 * idx1, 0);                                                 // a matching example
    add(idx1, (label1 + 1 + idx1 % (num_classes - 1)) % num_classes, 7 * idx1, 1);  // a non-matching example
  }
  const Shape count{2 * y.size()};
  return {x(Tensor(count, first)), x(Tensor(count, second)), Tensor(count, labels)};
}

Value euclidean_distance(const Values& vects) {
  const Value &x = vects[0], &y = vects[1];
  const Value sum_square = sum(square(x - y), {.axes = {1}, .keepdims = true});
  return sqrt(maximum(sum_square, 1e-7));
}

Model build() {
  const Input input({16, 16, 1});
  Value x = layers::BatchNormalization()(input);
  x = layers::Conv2D(4, {5, 5}, {.activation = "tanh"})(x);
  x = layers::AveragePooling2D({.pool_size = {2, 2}})(x);
  x = layers::Conv2D(16, {5, 5}, {.activation = "tanh"})(x);
  x = layers::AveragePooling2D({.pool_size = {2, 2}})(x);
  x = layers::Flatten()(x);
  x = layers::BatchNormalization()(x);
  x = layers::Dense(10, {.activation = "tanh"})(x);
  Model embedding_network(input, x);

  // docs: begin
  const Input input_1({16, 16, 1});
  const Input input_2({16, 16, 1});
  // As mentioned above, Siamese Network share weights between tower networks (sister networks).
  const Value tower_1 = embedding_network(input_1);
  const Value tower_2 = embedding_network(input_2);
  const Value merge_layer = layers::Lambda(euclidean_distance)(Values{tower_1, tower_2})[0];
  const Value normal_layer = layers::BatchNormalization()(merge_layer);
  const Value output_layer = layers::Dense(1, {.activation = "sigmoid"})(normal_layer);
  return Model({input_1, input_2}, output_layer);
  // docs: end
}

// docs: begin
auto loss(double margin) {
  return [margin](const Value& y_true, const Value& y_pred) {
    const Value square_pred = square(y_pred);
    const Value margin_square = square(maximum(margin - y_pred, 0));
    return mean((1 - y_true) * square_pred + y_true * margin_square);
  };
}
// docs: end

}  // namespace

BOOST_AUTO_TEST_SUITE(siamese_contrastive)

BOOST_AUTO_TEST_CASE(losses_are_those_of_keras) {
  const auto [x, y] = pictures(48, 16);
  const auto [x_train_1, x_train_2, labels_train] = make_pairs(rows(x, 0, 32), rows(y, 0, 32));
  const auto [x_val_1, x_val_2, labels_val] = make_pairs(rows(x, 32, 48), rows(y, 32, 48));

  Model siamese = build();
  auto expected = example("siamese_contrastive");
  initialize(siamese, expected["shapes"]);
  siamese.compile({.optimizer = "RMSprop", .loss = loss(1), .metrics = {"accuracy"}});
  check_history(siamese.fit({x_train_1, x_train_2}, labels_train,
                            {.batch_size = batch_size,
                             .epochs = 4,
                             .verbose = 0,
                             .validation_data = {{x_val_1, x_val_2}, labels_val},
                             .shuffle = false}),
                expected["history"]);
  const Logs results = siamese.evaluate({x_val_1, x_val_2}, labels_val);
  check_number("loss", results["loss"], expected["results"][0]);
  check_number("accuracy", results["accuracy"], expected["results"][1]);
}

BOOST_AUTO_TEST_SUITE_END()
