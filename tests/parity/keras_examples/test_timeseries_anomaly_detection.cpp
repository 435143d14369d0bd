// keras.io/examples/timeseries/timeseries_anomaly_detection: see timeseries_anomaly_detection.py.
#include <boost/test/unit_test.hpp>

#include "parity/keras_examples/examples.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const std::int64_t time_steps = 24;

// Generated training sequences for use in the model.
Tensor create_sequences(const Tensor& values, std::int64_t steps = time_steps) {
  Values output;
  for (std::int64_t i = 0; i < values.shape()[0] - steps + 1; ++i) {
    output.push_back(values(slice(i, i + steps)));
  }
  return stack(output);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(timeseries_anomaly_detection)

BOOST_AUTO_TEST_CASE(losses_and_anomalies_are_those_of_keras) {
  const Value place = arange(160);
  const Value daily =
      square(cast(mod(place, 16) - 8, DType::float32))(all, newaxis) / 16 + uniform_numbers(1, {160, 1});
  const Value jumps = cast(logical_and(place >= 90, place < 110), DType::float32)(all, newaxis);
  const Value jumpsup = daily + 6 * jumps;

  // Normalize and save the mean and std we get, for normalizing test data.
  const Value training_mean = mean(daily);
  const Value training_std = sqrt(var(daily));
  const Tensor df_training_value = (daily - training_mean) / training_std;
  const Tensor x_train = create_sequences(df_training_value);

  Sequential model({
      Input({x_train.shape()[1], x_train.shape()[2]}),
      layers::Conv1D({.filters = 8, .kernel_size = 7, .strides = 2, .padding = "same", .activation = "relu"}),
      layers::Dropout({.rate = 0.0}),
      layers::Conv1D({.filters = 4, .kernel_size = 7, .strides = 2, .padding = "same", .activation = "relu"}),
      layers::Conv1DTranspose({.filters = 4, .kernel_size = 7, .strides = 2, .padding = "same", .activation = "relu"}),
      layers::Dropout({.rate = 0.0}),
      layers::Conv1DTranspose({.filters = 8, .kernel_size = 7, .strides = 2, .padding = "same", .activation = "relu"}),
      layers::Conv1DTranspose({.filters = 1, .kernel_size = 7, .padding = "same"}),
  });
  auto expected = example("timeseries_anomaly_detection");
  initialize(model, expected["shapes"]);
  model.compile({.optimizer = Adam({.learning_rate = 0.005}), .loss = "mse"});
  check_history(model.fit(x_train, x_train,
                          {.batch_size = 32,
                           .epochs = 12,
                           .verbose = 0,
                           .callbacks = {EarlyStopping({.monitor = "val_loss", .patience = 5, .mode = "min"})},
                           .validation_split = 0.1,
                           .shuffle = false}),
                expected["history"]);

  // Get train MAE loss.
  const Tensor x_train_pred = model.predict(x_train);
  const Value train_mae_loss = mean(abs(x_train_pred - x_train), {.axes = {1}});
  // Get reconstruction loss threshold.
  const Value threshold = max(train_mae_loss);
  check_number("threshold", threshold.item(), expected["threshold"]);

  // Create sequences from test values.
  const Tensor df_test_value = (jumpsup - training_mean) / training_std;
  const Tensor x_test = create_sequences(df_test_value);
  // Get test MAE loss.
  const Tensor x_test_pred = model.predict(x_test);
  Value test_mae_loss = mean(abs(x_test_pred - x_test), {.axes = {1}});
  test_mae_loss = reshape(test_mae_loss, {-1});
  // Detect all the samples which are anomalies.
  const Value anomalies = test_mae_loss > threshold;
  BOOST_TEST(sum(anomalies).item() == expected["anomalies"].get<double>());

  // data i is an anomaly if samples [(i - timesteps + 1) to (i)] are anomalies
  std::vector<std::int64_t> anomalous_data_indices;
  for (std::int64_t data_idx = time_steps - 1; data_idx < df_test_value.shape()[0] - time_steps + 1; ++data_idx) {
    if (all(anomalies(slice(data_idx - time_steps + 1, data_idx))).item() != 0)
      anomalous_data_indices.push_back(data_idx);
  }
  BOOST_TEST(anomalous_data_indices == expected["indices"].get<std::vector<std::int64_t>>(),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
