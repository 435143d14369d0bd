// Forecasts the level of a tide gauge five hours ahead from level, air pressure and wind: see tide_gauge.py.
#include <boost/test/unit_test.hpp>

#include <numbers>

#include "parity/programs/programs.hpp"
#include "support/folder.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr std::int64_t length = 8, rate = 2, lead = 5;
constexpr std::int64_t reach = (length - 1) * rate + lead;

// Hourly rows of level, pressure and onshore wind, standardized by the first `known` hours.
class Gauge {
 public:
  Gauge(std::int64_t hours, std::int64_t known) {
    const Value hour = arange(hours);
    const Value pressure = 1012 + 9 * sin(hour / 31) + normal_numbers(51, {hours});
    const Value wind = 6 * cos(hour / 17) + normal_numbers(61, {hours});
    const auto tide = [&](double period) { return sin(2 * std::numbers::pi / period * hour); };
    const Value level = 4 + 1.8 * tide(12.42) + 0.6 * tide(12) - 0.01 * (pressure - 1012) + 0.03 * wind;
    const Value rows = stack({level, pressure, wind}, 1), first = rows(slice(known));
    mean_ = mean(first, {.axes = {0}}), std_ = mezzo::std(first, {.axes = {0}});
    rows_ = (rows - mean_) / std_;
  }

  DataLoader windows(std::int64_t begin, std::int64_t end) const {
    const Tensor part = rows_(slice(begin, end)), targets = part(slice(reach, std::nullopt), 0);
    return DataLoader(timeseries_dataset_from_array(part, targets, {.sequence_length = length, .sampling_rate = rate}),
                      {.batch_size = 16});
  }

  Tensor metres(const Tensor& scaled) const { return scaled * std_(0) + mean_(0); }

 private:
  Value mean_, std_, rows_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(tide_gauge)

BOOST_AUTO_TEST_CASE(forecasts_equal_keras) {
  nlohmann::json keras = program("tide_gauge");
  const Gauge gauge(220, 150);
  const DataLoader past = gauge.windows(0, 150), recent = gauge.windows(150, 220);

  const Input columns({.shape = {length, 3}});
  const Value forecast = layers::Dense(1)(layers::LSTM(5)(columns));
  Model model({.inputs = {columns}, .outputs = {forecast}});
  initialize(model, keras["shapes"]);
  model.compile({.optimizer = Adam({.learning_rate = 0.03}), .loss = "mse"});

  const Folder folder;
  const std::string best = folder.path("best.safetensors");
  ModelCheckpoint keep(best, {.monitor = "val_loss", .verbose = 0, .save_best_only = true, .save_weights_only = true});
  EarlyStopping stop({.monitor = "val_loss", .min_delta = 0.002, .patience = 2});
  check_history(model.fit(past, {.epochs = 10, .verbose = 0, .callbacks = {keep, stop}, .validation_data = recent}),
                keras["history"]);
  model.load_weights(best);
  check_number("score", model.evaluate(recent)["loss"], keras["scores"]);
  const Tensor levels = gauge.metres(model.predict(recent, {.steps = 2}));
  check_numbers("level", levels.to_doubles(), keras["levels"]);
}

BOOST_AUTO_TEST_SUITE_END()
