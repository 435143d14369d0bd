// keras.io/examples/structured_data/structured_data_classification_from_scratch: see structured_data_classification.py.
#include <boost/test/unit_test.hpp>

#include "parity/keras_examples/examples.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Value encode_numerical_feature(const Value& feature, const Tensor& column) {
  // Create a Normalization layer for our feature
  layers::Normalization normalizer;
  // Learn the statistics of the data
  normalizer.adapt(column(all, newaxis));
  // Normalize the input feature
  return normalizer(feature);
}

Value encode_categorical_feature(const Value& feature, const Tensor& column) {
  // Create a lookup layer which will turn integers into rows
  layers::IntegerLookup lookup({.output_mode = "one_hot"});
  // Learn the set of possible values and assign them a fixed integer index
  lookup.adapt(column);
  // Turn the integers into rows
  return lookup(feature);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(structured_data_classification)

BOOST_AUTO_TEST_CASE(losses_are_those_of_keras) {
  auto [train_ds, train_thal, train_labels] = heart_disease(48, 1);
  auto [val_ds, val_thal, val_labels] = heart_disease(16, 5);
  // Strings become integers outside of the model.
  StringLookup thal_lookup;
  thal_lookup.adapt(train_thal);
  train_ds["thal"] = thal_lookup(train_thal);
  val_ds["thal"] = thal_lookup(val_thal);

  // Categorical features encoded as integers
  const Input sex({1}, {.dtype = "int64", .name = "sex"});
  const Input cp({1}, {.dtype = "int64", .name = "cp"});
  const Input ca({1}, {.dtype = "int64", .name = "ca"});
  // Categorical feature encoded as string
  const Input thal({1}, {.dtype = "int64", .name = "thal"});
  // Numerical features
  const Input age({1}, {.name = "age"});
  const Input trestbps({1}, {.name = "trestbps"});
  const Input oldpeak({1}, {.name = "oldpeak"});
  const Values all_inputs = {sex, cp, ca, thal, age, trestbps, oldpeak};

  // Integer categorical features
  const Value sex_encoded = encode_categorical_feature(sex, train_ds["sex"]);
  const Value cp_encoded = encode_categorical_feature(cp, train_ds["cp"]);
  const Value ca_encoded = encode_categorical_feature(ca, train_ds["ca"]);
  // String categorical features
  const Value thal_encoded =
      layers::CategoryEncoding({.num_tokens = thal_lookup.vocabulary_size(), .output_mode = "one_hot"})(thal);
  // Numerical features
  const Value age_encoded = encode_numerical_feature(age, train_ds["age"]);
  const Value trestbps_encoded = encode_numerical_feature(trestbps, train_ds["trestbps"]);
  const Value oldpeak_encoded = encode_numerical_feature(oldpeak, train_ds["oldpeak"]);
  const Value all_features = layers::concatenate({
      sex_encoded,
      cp_encoded,
      ca_encoded,
      thal_encoded,
      age_encoded,
      trestbps_encoded,
      oldpeak_encoded,
  });
  Value x = layers::Dense(16, {.activation = "relu"})(all_features);
  x = layers::Dropout(0.0)(x);
  const Value output = layers::Dense(1, {.activation = "sigmoid"})(x);
  Model model(all_inputs, output);
  model.compile({.optimizer = "adam", .loss = "binary_crossentropy", .metrics = {"accuracy"}});
  auto expected = example("structured_data_classification");
  initialize(model, expected["shapes"]);
  const ValidationData validation = {val_ds, val_labels};
  check_history(
      model.fit(train_ds, train_labels,
                {.batch_size = 8, .epochs = 5, .verbose = 0, .validation_data = validation, .shuffle = false}),
      expected["history"]);

  const std::map<std::string, Tensor> sample = {
      {"sex", array({1})},    {"cp", array({1})},           {"ca", array({0})},       {"thal", thal_lookup({"fixed"})},
      {"age", array({60.0})}, {"trestbps", array({145.0})}, {"oldpeak", array({2.3})}};
  const Tensor predictions = model.predict(sample);
  check_number("score", predictions(0, 0).item(), expected["score"]);
}

BOOST_AUTO_TEST_SUITE_END()
