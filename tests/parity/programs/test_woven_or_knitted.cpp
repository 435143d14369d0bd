// Tells woven from knitted fabric on color pictures: see woven_or_knitted.py.
#include <boost/test/unit_test.hpp>

#include <utility>
#include <vector>

#include "parity/programs/programs.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr std::int64_t side = 16;
// Filters of the two convolutions of each branch. The shortcut has those of the second one.
const std::vector<std::vector<int>> all_filters = {{6, 8}, {8, 12}};

// Pictures of fabric of two yarns, and 1 for each knitted one, else 0.
std::pair<Tensor, Tensor> swatches(std::uint32_t stream, std::int64_t count) {
  const Tensor knitted = random_integers(stream, {count, 1, 1}, 2);
  const Value row = arange(side).reshape({1, side, 1}) + random_integers(stream + 1, {count, 1, 1}, 4);
  const Value column = arange(side);
  const Value checks = mod(floor_divide(row, 2) + floor_divide(column, 2), 2);
  const Value chevrons = floor_divide(mod(row + abs(mod(column, 6) - 3), 4), 2);
  const Value front = expand_dims(where(equal(knitted, 1), chevrons, checks), -1);
  const Value weft = 30 + random_integers(stream + 2, {count, 1, 1, 3}, 180);
  const Value warp = 30 + random_integers(stream + 3, {count, 1, 1, 3}, 180);
  const Value fuzz = random_integers(stream + 4, {count, side, side, 3}, 40);
  return {where(equal(front, 1), weft, warp) + fuzz, knitted.reshape({count, 1})};
}

// Separable convolutions, each of activated pixels, at half the size.
Sequential branch(const std::vector<int>& filters) {
  Sequential out;
  for (const int count : filters) {
    out.add(layers::Activation("relu"));
    out.add(layers::SeparableConv2D(count, 3, {.padding = "same", .use_bias = false}));
    out.add(layers::BatchNormalization({.momentum = 0.7}));
  }
  out.add(layers::MaxPooling2D(3, {.strides = 2, .padding = "same"}));
  return out;
}

Sequential shortcut(int count) {
  return {layers::Conv2D(count, 1, {.strides = 2, .padding = "same", .use_bias = false}),
          layers::BatchNormalization({.momentum = 0.7})};
}

Model network() {
  const Input swatch({.shape = {side, side, 3}});
  const Value turned = layers::RandomRotation(0.0, {.fill_mode = "nearest"})(swatch);
  Value features = layers::Conv2D(6, 5, {.strides = 2, .padding = "same"})(layers::Rescaling(1.0 / 255)(turned));
  for (const std::vector<int>& filters : all_filters) {
    features = layers::add({shortcut(filters.back())(features), branch(filters)(features)});
  }
  const Value pooled = layers::GlobalAveragePooling2D()(layers::Activation("relu")(features));
  return Model(swatch, layers::Dense(1)(layers::Dropout(0.0)(pooled)));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(woven_or_knitted)

BOOST_AUTO_TEST_CASE(training_and_odds_equal_keras) {
  auto keras = program("woven_or_knitted");
  Model model = network();
  initialize(model, keras["shapes"]);
  // The metric takes a logit above 0.5 for knitted: odds of 62 %.
  model.compile({.optimizer = optimizers::Adam(0.006, {.epsilon = 1e-3}),
                 .loss = losses::BinaryCrossentropy({.from_logits = true}),
                 .metrics = {metrics::BinaryAccuracy({.name = "right"})}});
  const auto [x, y] = swatches(10, 48);
  const auto unseen = swatches(20, 20);
  const History history = model.fit(x, y,
                                    {.batch_size = 12,
                                     .epochs = 3,
                                     .verbose = 0,
                                     .validation_data = {unseen.first, unseen.second},
                                     .shuffle = false});
  const Tensor logits = model.predict(unseen.first);
  check_history(history, keras["history"]);
  check_numbers("logit", logits.to_doubles(), keras["logits"]);
  check_numbers("odds", sigmoid(logits).tensor().to_doubles(), keras["odds"]);
}

BOOST_AUTO_TEST_SUITE_END()
