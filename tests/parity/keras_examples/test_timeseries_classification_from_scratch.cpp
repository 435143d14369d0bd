// keras.io/examples/timeseries/timeseries_classification_from_scratch: see timeseries_classification_from_scratch.py.
#include <boost/test/unit_test.hpp>

#include "parity/keras_examples/examples.hpp"
#include "support/folder.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// Labels, -1 or 1, and series of 24 steps, of the period 6 or 8.
Tensor series(std::int64_t count, std::uint32_t stream) {
  const std::vector<double> noise = uniform_numbers(stream, {count, 24}).to_doubles();
  std::vector<double> out;
  for (std::int64_t i = 0; i < count; ++i) {
    const double y = 1.0 - 2.0 * static_cast<double>(i * 7 % 5 % 2);
    out.push_back(y);
    for (std::int64_t step = 0; step < 24; ++step) {
      const double x = std::sin(2 * std::acos(-1.0) * static_cast<double>(step + i % 6) / (7 + y));
      out.push_back(std::nearbyint(1e4 * (x + 0.8 * noise[static_cast<std::size_t>(24 * i + step)])) / 1e4);
    }
  }
  return {{count, 25}, out};
}

std::pair<Tensor, Tensor> readucr(const std::string& filename) {
  const Tensor data = load_csv(filename, {.delimiter = '\t'});
  const Tensor y = data(all, 0);
  const Tensor x = data(all, slice(1, std::nullopt));
  return {x, y.cast(DType::int32)};
}

Model make_model(const Shape& input_shape, std::int64_t num_classes) {
  const Input input_layer(input_shape);

  Value conv1 = layers::Conv1D({.filters = 8, .kernel_size = 3, .padding = "same"})(input_layer);
  conv1 = layers::BatchNormalization()(conv1);
  conv1 = layers::ReLU()(conv1);

  Value conv2 = layers::Conv1D({.filters = 8, .kernel_size = 3, .padding = "same"})(conv1);
  conv2 = layers::BatchNormalization()(conv2);
  conv2 = layers::ReLU()(conv2);

  Value conv3 = layers::Conv1D({.filters = 8, .kernel_size = 3, .padding = "same"})(conv2);
  conv3 = layers::BatchNormalization()(conv3);
  conv3 = layers::ReLU()(conv3);

  const Value gap = layers::GlobalAveragePooling1D()(conv3);

  const Value output_layer = layers::Dense(num_classes, {.activation = "softmax"})(gap);

  return Model({.inputs = {input_layer}, .outputs = {output_layer}});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(timeseries_classification_from_scratch)

BOOST_AUTO_TEST_CASE(losses_are_those_of_keras) {
  const Folder folder;
  save_csv(folder.path("TRAIN.tsv"), series(40, 1), {.delimiter = '\t'});
  save_csv(folder.path("TEST.tsv"), series(16, 2), {.delimiter = '\t'});

  auto [x_train, y_train] = readucr(folder.path("TRAIN.tsv"));
  auto [x_test, y_test] = readucr(folder.path("TEST.tsv"));
  x_train = x_train.reshape({x_train.shape()[0], x_train.shape()[1], 1});
  x_test = x_test.reshape({x_test.shape()[0], x_test.shape()[1], 1});
  const std::int64_t num_classes = unique(y_train).values.shape()[0];
  y_train = where(equal(y_train, -1), 0, y_train).tensor();
  y_test = where(equal(y_test, -1), 0, y_test).tensor();

  Model model = make_model({x_train.shape()[1], 1}, num_classes);
  auto expected = example("timeseries_classification_from_scratch");
  initialize(model, expected["shapes"]);
  const Callbacks callbacks = {
      ModelCheckpoint(folder.path("best_model.mezzo"), {.monitor = "val_loss", .save_best_only = true}),
      ReduceLROnPlateau({.monitor = "val_loss", .factor = 0.5, .patience = 1, .min_delta = 0.05, .min_lr = 0.0001}),
      EarlyStopping({.monitor = "val_loss", .patience = 3, .verbose = 0}),
  };
  model.compile({
      .optimizer = "adam",
      .loss = "sparse_categorical_crossentropy",
      .metrics = {"sparse_categorical_accuracy"},
  });
  const FitOptions options = {
      .batch_size = 8, .epochs = 5, .verbose = 0, .callbacks = callbacks, .validation_split = 0.2, .shuffle = false};
  check_history(model.fit(x_train, y_train, options), expected["history"]);
  model = load_model<Model>(folder.path("best_model.mezzo"));
  check_logs(model.evaluate(x_test, y_test), expected["test"]);
}

BOOST_AUTO_TEST_SUITE_END()
