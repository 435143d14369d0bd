// keras.io/examples/timeseries/timeseries_weather_forecasting: see timeseries_weather_forecasting.py.
#include <boost/test/unit_test.hpp>

#include "parity/keras_examples/examples.hpp"
#include "support/folder.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Tensor normalize(const Tensor& data, std::int64_t train_split) {
  const Value data_mean = mean(data(slice(train_split)), {.axes = {0}});
  const Value data_std = mezzo::std(data(slice(train_split)), {.axes = {0}});
  return ((data - data_mean) / data_std).tensor();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(timeseries_weather_forecasting)

BOOST_AUTO_TEST_CASE(losses_are_those_of_keras) {
  const double split_fraction = 0.7;
  const std::int64_t step = 3;
  const std::int64_t past = 24;
  const std::int64_t future = 6;
  const double learning_rate = 0.001;
  const std::int64_t batch_size = 16;
  const int epochs = 4;

  const Value periods = 12.0 + 5.0 * arange(7);
  const Tensor df = (20 * sin(arange(240)(all, newaxis) / periods) + 2 * uniform_numbers(1, {240, 7})).tensor();
  const auto train_split = static_cast<std::int64_t>(split_fraction * static_cast<double>(df.shape()[0]));

  const Tensor features = normalize(df, train_split);
  const Tensor train_data = features(slice(0, train_split));
  const Tensor val_data = features(slice(train_split, std::nullopt));

  // Training dataset
  const std::int64_t start = past + future;
  const std::int64_t end = start + train_split;
  const Tensor x_train = train_data(all, slice(0, 7));
  const Tensor y_train = features(slice(start, end), slice(1, 2));
  const std::int64_t sequence_length = past / step;
  const TimeseriesOptions windows = {.sequence_length = sequence_length, .sampling_rate = step};
  const Dataset dataset_train = timeseries_dataset_from_array(x_train, y_train, windows);

  // Validation dataset
  const std::int64_t x_end = val_data.shape()[0] - past - future;
  const std::int64_t label_start = train_split + past + future;
  const Tensor x_val = val_data(slice(x_end), slice(0, 7));
  const Tensor y_val = features(slice(label_start, std::nullopt), slice(1, 2));
  const Dataset dataset_val = timeseries_dataset_from_array(x_val, y_val, windows);

  // Training
  const Input inputs({sequence_length, 7});
  const Value lstm_out = layers::LSTM(8)(inputs);
  const Value outputs = layers::Dense(1)(lstm_out);

  Model model({.inputs = {inputs}, .outputs = {outputs}});
  model.compile({.optimizer = optimizers::Adam({.learning_rate = learning_rate}), .loss = "mse"});
  auto expected = example("timeseries_weather_forecasting");
  initialize(model, expected["shapes"]);
  const Folder folder;
  const std::string path_checkpoint = folder.path("model_checkpoint.safetensors");
  EarlyStopping es_callback({.monitor = "val_loss", .min_delta = 0, .patience = 5});
  ModelCheckpoint modelckpt_callback(
      path_checkpoint, {.monitor = "val_loss", .verbose = 0, .save_best_only = true, .save_weights_only = true});
  const History history = model.fit(dataset_train, {.batch_size = batch_size,
                                                    .epochs = epochs,
                                                    .verbose = 0,
                                                    .callbacks = {es_callback, modelckpt_callback},
                                                    .validation_data = dataset_val,
                                                    .shuffle = false});
  check_history(history, expected["history"]);
  BatchStream batches = DataLoader(dataset_val, {.batch_size = batch_size}).epoch(0);
  for (const auto& prediction : expected["predictions"]) {
    check_number("prediction", model.predict((*batches.next())["x"])(0, 0).item(), prediction);
  }
}

BOOST_AUTO_TEST_SUITE_END()
