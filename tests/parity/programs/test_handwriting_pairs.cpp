// Decides whether two strokes were drawn by one hand, by the distance of their codes: see handwriting_pairs.py.

#include <boost/test/unit_test.hpp>

#include "parity/programs/programs.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(handwriting_pairs)

namespace {

constexpr std::int64_t side = 14;
// Slant, height of the waves and width of the strokes of each hand.
const Tensor hands_table = {{-0.5, 0.3, 0.9}, {0.1, 1.8, 1.2}, {0.6, 0.6, 1.8}};

Tensor draw(const Value& hands, std::uint32_t stream) {
  const Value hand = take(hands_table, hands, 0)(all, all, newaxis, newaxis);
  const Value random = uniform_numbers(stream, {2, hands.shape()[0], 1, 1}, -1.5, 1.5);
  const Value column = arange(static_cast<double>(side)) - side / 2.0, row = expand_dims(column, 1);
  const Value ink = column - random(0) - hand(all, 0) * row - hand(all, 1) * sin(row + random(1));
  return exp(-square(ink / hand(all, 2)))(ellipsis, newaxis);
}

struct Pairs {
  Tensor left, right, differ;
};

Pairs pairs(std::int64_t count, std::uint32_t stream) {
  const Value hands = random_integers(stream, {count}, 3), differ = random_integers(stream + 1, {count}, 2);
  const Value other = mod(hands + differ * (1 + random_integers(stream + 2, {count}, 2)), 3);
  return {draw(hands, stream + 3), draw(other, stream + 4), expand_dims(differ, 1)};
}

// docs: begin
Value separation(const Values& codes) {
  const Value gaps = square(codes[0] - codes[1]);
  return sqrt(sum(gaps, {.axes = {-1}, .keepdims = true}) + 1e-7);
}

// Pulls pairs of one hand together and pushes others apart, up to the margin.
auto keep_apart(double margin) {
  return [margin](const Value& differ, const Value& distance) {
    const Value missing = maximum(margin - distance, 0.0);
    return 0.5 * square(where(differ > 0, missing, distance));
  };
}

Value contrast(const Value& differ, const Value& distance) { return where(differ > 0, distance, -distance); }
// docs: end

}  // namespace

BOOST_AUTO_TEST_CASE(distances_equal_keras) {
  // docs: begin
  Sequential reader({
      Input({side, side, 1}),
      Conv2D(5, 3, {.activation = "tanh"}),
      BatchNormalization(),
      AveragePooling2D({.pool_size = 2}),
      Conv2D(8, 3, {.activation = "tanh"}),
      AveragePooling2D({.pool_size = 2}),
      Flatten(),
      Dense(6, {.activation = "tanh"}),
  });
  const Input one({side, side, 1}), two({side, side, 1});
  const Values distance = Lambda(separation)({reader(one), reader(two)});
  Model judge({.inputs = {one, two}, .outputs = distance});
  // docs: end
  nlohmann::json keras = program("handwriting_pairs");
  initialize(judge, keras["shapes"]);
  const auto [left, right, differ] = pairs(48, 1);
  const auto [fresh_left, fresh_right, fresh_differ] = pairs(24, 11);
  // docs: begin
  judge.compile({.optimizer = "RMSprop",
                 .loss = keep_apart(1.0),
                 .metrics = {"accuracy", metrics::MeanMetricWrapper(contrast, {.name = "contrast"})}});
  const History history = judge.fit({left, right}, differ,
                                    {.batch_size = 12,
                                     .epochs = 4,
                                     .verbose = 0,
                                     .validation_data = {{fresh_left, fresh_right}, fresh_differ},
                                     .shuffle = false});
  const Logs scores = judge.evaluate({fresh_left, fresh_right}, fresh_differ);
  const Tensor distances = judge.predict({fresh_left, fresh_right});
  // docs: end
  check_history(history, keras["history"]);
  check_logs(scores, keras["scores"]);
  check_numbers("distance", distances.to_doubles(), keras["distances"]);
  for (std::size_t i = 0; i < keras["moving"].size(); ++i) {
    check_numbers("moving", judge.non_trainable_weights()[i].value().to_doubles(), keras["moving"][i]);
  }
}

BOOST_AUTO_TEST_SUITE_END()
