// Learns codes of vibrations by the groups of their machines, then reads the groups off: see grouped_signals.py.

#include <boost/test/unit_test.hpp>

#include "parity/programs/programs.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(grouped_signals)

namespace {

constexpr std::int64_t ticks = 20, sensors = 5, groups = 4, batch = 16;

// Signals (count, ticks, sensors, 1) with a tone and a delay between sensors by group, and groups in turn.
std::pair<Tensor, Tensor> vibrations(std::int64_t count, std::uint32_t stream) {
  const Value group = mod(arange(count), groups), part = group(all, newaxis, newaxis);
  const Value tick = expand_dims(arange(ticks), 1), sensor = arange(sensors);
  const Value start = uniform_numbers(stream, {count, 1, 1}, 0, 6);
  const Value angle = (0.5 + 0.25 * part) * tick + (1.2 - 0.5 * part) * sensor + start;
  return {(sin(angle) + 0.4 * normal_numbers(stream + 1, angle.shape()))(ellipsis, newaxis), group};
}

// Cross-entropy between the nearest codes of a batch and the codes of a sample's own group.
class GroupContrast : public Loss {
 public:
  explicit GroupContrast(double temperature, const std::string& name = "group_contrast")
      : Loss(name), temperature_(temperature) {}

  Value call(const Value& group, const Value& codes) const override {
    const Value unit = normalize(codes, 1, 2);
    const Value itself = eye(shape(codes)[0]);
    // A sample is neither a positive nor a negative of itself.
    const Value closeness = divide(matmul(unit, transpose(unit)), temperature_) - 1e4 * itself;
    const Value column = expand_dims(group, 1);
    const Value positive = cast(equal(column, transpose(column)), codes.dtype()) - itself;
    const Value share = divide(positive, sum(positive, {.axes = {1}, .keepdims = true}));
    return categorical_crossentropy(share, closeness, {.from_logits = true});
  }

 private:
  double temperature_;
};

// Encoder with two residual parts: (ticks, sensors, 1) to a code of 8 numbers.
Model listener() {
  const Input signal({ticks, sensors, 1});
  Value state = Conv2D(8, 3, {.strides = {2, 1}, .use_bias = false})(signal);
  for (const int dilation : {1, 2}) {
    Value change = ReLU()(BatchNormalization()(state));
    change = Conv2D(8, {3, 1}, {.padding = "same", .dilation_rate = {dilation, 1}})(change);
    state = Add()({state, change});
  }
  return Model({.inputs = {signal}, .outputs = {GlobalAveragePooling2D()(ReLU()(state))}, .name = "listener"});
}

// Mean cosine between the codes of each group and the group's mean code.
std::vector<double> cohesion(const Tensor& codes) {
  const Value unit = normalize(convert_to_tensor(codes), 1, 2);
  std::vector<double> cosines;
  for (std::int64_t group = 0; group < groups; ++group) {
    const Value members = unit(slice(group, std::nullopt, groups));
    const Value center = normalize(mean(members, {.axes = {0}, .keepdims = true}), 1, 2);
    cosines.push_back(mean(squeeze(matmul(members, transpose(center)), 1)).item());
  }
  return cosines;
}

}  // namespace

BOOST_AUTO_TEST_CASE(frozen_codes_are_read_as_in_keras) {
  nlohmann::json keras = program("grouped_signals");
  Model encoder = listener();
  initialize(encoder, keras["shapes"]);
  const auto [signals, group] = vibrations(48, 1);
  const auto [fresh, fresh_group] = vibrations(16, 21);
  encoder.compile({.optimizer = Adam(0.01), .loss = GroupContrast(0.4)});
  const History contrast =
      encoder.fit(signals, group, {.batch_size = batch, .epochs = 3, .verbose = 0, .shuffle = false});
  const Tensor codes = encoder.predict(fresh);

  encoder.set_trainable(false);
  const Input signal({ticks, sensors, 1});
  Dense guess(groups, {.activation = "softmax"});
  Model reader({.inputs = {signal}, .outputs = {guess(Dropout(0.0)(encoder(signal)))}, .name = "reader"});
  initialize(guess, keras["shapes"], 200);
  reader.compile({.optimizer = Adam(0.05),
                  .loss = SparseCategoricalCrossentropy(),
                  .metrics = {metrics::SparseCategoricalAccuracy()}});
  const History reading =
      reader.fit(signals, group, {.batch_size = batch, .epochs = 4, .verbose = 0, .shuffle = false});
  check_history(contrast, keras["contrast"]);
  check_numbers("code", codes.to_doubles(), keras["codes"]);
  check_numbers("cohesion", cohesion(codes), keras["cohesion"]);
  BOOST_TEST(reader.trainable_weights().size() == keras["trained"].get<std::size_t>());
  check_history(reading, keras["reading"]);
  check_logs(reader.evaluate(fresh, fresh_group), keras["scores"]);
  check_numbers("code after", encoder.predict(fresh).to_doubles(), keras["codes_after"]);
}

BOOST_AUTO_TEST_SUITE_END()
