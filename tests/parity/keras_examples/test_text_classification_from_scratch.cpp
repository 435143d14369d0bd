// keras.io/examples/nlp/text_classification_from_scratch: see text_classification_from_scratch.py.
#include <boost/test/unit_test.hpp>

#include <regex>

#include "parity/keras_examples/examples.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const std::int64_t batch_size = 8;
// Model constants.
const std::int64_t max_features = 20;
const std::int64_t embedding_dim = 12;
const std::int64_t sequence_length = 16;

// Having looked at our data above, we see that the raw text contains HTML break tags of the form '<br />'. These tags
// will not be removed by the default standardizer, so we will need to create a custom standardization function.
std::string custom_standardization(std::string input_data) {
  for (char& c : input_data) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const std::string stripped_html = std::regex_replace(input_data, std::regex("<br />"), " ");
  return std::regex_replace(stripped_html, std::regex("[[:punct:]]"), "");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(text_classification_from_scratch)

BOOST_AUTO_TEST_CASE(losses_are_those_of_keras) {
  const TextDataset raw_train_ds = rated_texts(32), raw_val_ds = rated_texts(16, 60), raw_test_ds = rated_texts(16, 80);

  // Now that we have our custom standardization, we can instantiate our text vectorization layer.
  TextVectorization vectorize_layer({
      .max_tokens = max_features,
      .standardize = custom_standardization,
      .output_mode = "int",
      .output_sequence_length = sequence_length,
  });
  // Let's call `adapt`:
  vectorize_layer.adapt(raw_train_ds);

  // Vectorize the data.
  const Dataset train_ds = raw_train_ds.map(vectorize_layer);
  const Dataset val_ds = raw_val_ds.map(vectorize_layer);
  const Dataset test_ds = raw_test_ds.map(vectorize_layer);

  // A integer input for vocab indices.
  const Input inputs({sequence_length}, {.dtype = "int64"});
  // Next, we add a layer to map those vocab indices into a space of dimensionality 'embedding_dim'.
  Value x = layers::Embedding(max_features, embedding_dim)(inputs);
  x = layers::Dropout(0.0)(x);
  // Conv1D + global max pooling
  x = layers::Conv1D(16, 4, {.strides = 3, .padding = "valid", .activation = "relu"})(x);
  x = layers::Conv1D(16, 4, {.strides = 3, .padding = "valid", .activation = "relu"})(x);
  x = layers::GlobalMaxPooling1D()(x);
  // We add a vanilla hidden layer:
  x = layers::Dense(16, {.activation = "relu"})(x);
  x = layers::Dropout(0.0)(x);
  // We project onto a single unit output layer, and squash it with a sigmoid:
  const Value predictions = layers::Dense(1, {.activation = "sigmoid", .name = "predictions"})(x);
  Model model(inputs, predictions);
  // Compile the model with binary crossentropy loss and an adam optimizer.
  model.compile({.optimizer = "adam", .loss = "binary_crossentropy", .metrics = {"accuracy"}});
  auto expected = example("text_classification_from_scratch");
  initialize(model, expected["shapes"]);

  const int epochs = 3;
  // Fit the model using the train and test datasets.
  const History history = model.fit(
      train_ds,
      {.batch_size = batch_size, .epochs = epochs, .verbose = 0, .validation_data = val_ds, .shuffle = false});
  const Logs score = model.evaluate(test_ds, {.verbose = 0});
  check_history(history, expected["history"]);
  check_logs(score, expected["test"]);
  const Tensor prediction = model.predict(vectorize_layer({"A fine story<br />with unknown actors!"}));
  check_number("prediction", prediction.item(), expected["score"]);
  BOOST_TEST(vectorize_layer.get_vocabulary() == expected["vocabulary"].get<std::vector<std::string>>());
}

BOOST_AUTO_TEST_SUITE_END()
