// Raises an alarm where an autoencoder fails to reconstruct the pressure of a pump: see pump_alarm.py.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <numbers>

#include "parity/programs/programs.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr std::int64_t stroke = 14, span = 28, hop = 3;

Tensor pressure(std::int64_t strokes, std::uint32_t stream) {
  const Value turn = 2 * std::numbers::pi / stroke * arange(stroke);
  const Value pulse = 6 + 1.5 * sin(turn) + 0.5 * cos(3 * turn);
  return tile(pulse, strokes) + 0.2 * normal_numbers(stream, {strokes * stroke});
}

// All spans that begin `hop` samples apart: column k is the series moved by k samples.
Tensor spans(const Value& series) {
  const std::int64_t last = series.shape()[0] - span + 1;
  Values columns;
  for (std::int64_t k = 0; k < span; ++k) columns.push_back(series(slice(k, last + k, hop)));
  return stack(columns, 1)(all, all, newaxis);
}

Sequential autoencoder(std::vector<std::int64_t> stages) {
  Sequential net({Input({span, 1})});
  for (const std::int64_t maps : stages) {
    net.add(Conv1D({.filters = maps, .kernel_size = 5, .strides = 2, .padding = "same", .activation = "relu"}));
    net.add(Dropout({.rate = 0.0}));
  }
  std::reverse(stages.begin(), stages.end());
  for (const std::int64_t maps : stages) {
    net.add(
        Conv1DTranspose({.filters = maps, .kernel_size = 5, .strides = 2, .padding = "same", .activation = "relu"}));
  }
  net.add(Conv1DTranspose({.filters = 1, .kernel_size = 3, .padding = "same"}));
  return net;
}

// The mean absolute error of each span.
Value errors_of(Model& net, const Tensor& given) {
  return mean(abs(net.predict(given) - given), {.axes = {1}})(all, 0);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pump_alarm)

BOOST_AUTO_TEST_CASE(alarms_equal_keras) {
  nlohmann::json keras = program("pump_alarm");
  const Value healthy = pressure(28, 31), watched = pressure(12, 21);
  const Value sticking = equal(floor_divide(arange(watched.shape()[0]), stroke), 7);
  const Value center = mean(healthy), scale = mezzo::std(healthy);
  const Tensor normals = spans((healthy - center) / scale);
  const Tensor checked = spans((where(sticking, 0.5 * watched, watched) - center) / scale);

  Sequential net = autoencoder({8, 6});
  initialize(net, keras["shapes"]);
  net.compile({.optimizer = Adam({.learning_rate = 0.01}), .loss = "mse"});
  EarlyStopping stopping({.monitor = "val_loss", .patience = 1, .mode = "min"});
  const History history = net.fit(
      normals, normals,
      {.batch_size = 8, .epochs = 8, .verbose = 0, .callbacks = {stopping}, .validation_split = 0.2, .shuffle = false});
  check_history(history, keras["history"]);

  const Value limit = max(errors_of(net, normals)), errors = errors_of(net, checked);
  check_number("limit", limit.item(), keras["limit"]);
  check_numbers("error", errors.tensor().to_doubles(), keras["errors"]);
  BOOST_TEST(nonzero(errors > limit)[0].tensor().to_doubles() == keras["alarms"].get<std::vector<double>>());
  BOOST_TEST(argmax(errors).item() * hop == keras["worst"].get<double>());
}

BOOST_AUTO_TEST_SUITE_END()
