// Sorts parcels by the words of the address, a picture of the label and measures: see parcel_sorting.py.
#include <boost/test/unit_test.hpp>

#include "parity/programs/programs.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr int street_words = 40, depots = 5, vehicles = 3, side = 12;

std::pair<Tensors, Tensors> parcels(std::uint32_t stream, std::int64_t count) {
  const Tensor words = random_integers(stream, {count, 9}, street_words - 1) + 1;
  const Tensor lengths = random_integers(stream + 1, {count}, 6) + 4;
  const Tensor size_and_mass = uniform_numbers(stream + 2, {count, 4}, 0, 3);
  const Tensor fragile = floor(uniform_numbers(stream + 3, {count, 1}, 0.25, 1.75));
  // A diagonal stroke marks the labels of fragile parcels.
  const Tensor stroke = fragile(all, all, newaxis, newaxis) * eye(side)(newaxis, all, all, newaxis);
  std::vector<Tensor> addresses;
  for (int i = 0; i < count; ++i) addresses.push_back(words(i, slice(static_cast<int>(lengths(i).item()))));
  const Tensors given = {
      {"address", pad_sequences(addresses, {.maxlen = 7})},
      {"label", 0.7 * stroke + 0.3 * uniform_numbers(stream + 4, {count, side, side, 1})},
      {"measures", size_and_mass},
  };
  const Tensors wanted = {
      {"depot", eye(depots)(words(all, 0) % depots)},
      {"vehicle", eye(vehicles)(cast(size_and_mass(all, 3), DType::int32))},
      {"fragile", fragile},
      {"hours", 2 + lengths(all, newaxis) + 1.5 * size_and_mass(all, slice(1))},
  };
  return {given, wanted};
}

Model sorting_model() {
  const Input address({.shape = {-1}, .dtype = "int32", .name = "address"});
  const Input label({.shape = {side, side, 1}, .name = "label"});
  const Input measures({.shape = {4}, .name = "measures"});

  const Value words = layers::Embedding(street_words, 6, {.mask_zero = true})(address);
  Value route = layers::Bidirectional(layers::LSTM(5, {.return_sequences = true}))(words);
  route = layers::Bidirectional(layers::LSTM(4))(route);
  Value ink = layers::MaxPooling2D(2)(layers::Conv2D(4, 3, {.activation = "relu"})(label));
  ink = layers::GlobalAveragePooling2D()(layers::Conv2D(6, 3, {.activation = "relu"})(ink));
  Value joint = layers::concatenate({layers::GlobalAveragePooling1D()(words), route, ink, measures});
  joint = layers::Dense(14, {.activation = "relu"})(joint);

  return Model({address, label, measures},
               {layers::Dense(depots, {.name = "depot"})(joint),
                layers::Dense(vehicles, {.activation = "softmax", .name = "vehicle"})(joint),
                layers::Dense(1, {.activation = "sigmoid", .name = "fragile"})(joint),
                layers::Dense(1, {.activation = "softplus", .name = "hours"})(joint)});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(parcel_sorting)

BOOST_AUTO_TEST_CASE(four_outputs_equal_keras) {
  nlohmann::json keras = program("parcel_sorting");
  const auto [given, wanted] = parcels(1, 32);
  Model model = sorting_model();
  initialize(model, keras["shapes"]);
  model.compile({
      .optimizer = optimizers::RMSprop(5e-3),
      .loss = {{"depot", losses::CategoricalCrossentropy({.from_logits = true})},
               {"fragile", "binary_crossentropy"},
               {"vehicle", losses::CategoricalCrossentropy()},
               {"hours", losses::MeanSquaredError()}},
      .loss_weights = {{"hours", 0.02}, {"fragile", 0.5}, {"depot", 1}, {"vehicle", 1}},
      .metrics = {{"depot", metrics::CategoricalAccuracy()},
                  {"vehicle", "accuracy"},
                  {"fragile", {"accuracy"}},
                  {"hours", {metrics::MeanAbsoluteError(), metrics::MeanAbsolutePercentageError()}}},
  });
  check_history(model.fit(given, wanted, {.batch_size = 8, .epochs = 3, .verbose = 0, .shuffle = false}),
                keras["history"]);
  const auto [unseen, answers] = parcels(11, 12);
  check_logs(model.evaluate(unseen, answers, {.batch_size = 8}), keras["unseen"]);
  const Tensors predictions = model.predict_all(unseen);
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    check_numbers(model.output_names()[i], rows(predictions[i], 0, 4).to_doubles(), keras["predictions"][i]);
  }
}

BOOST_AUTO_TEST_SUITE_END()
