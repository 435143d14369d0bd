// keras.io/examples/nlp/bidirectional_lstm_imdb: see bidirectional_lstm_imdb.py.
#include <boost/test/unit_test.hpp>

#include "parity/keras_examples/examples.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(bidirectional_lstm_imdb)

BOOST_AUTO_TEST_CASE(losses_are_those_of_keras) {
  const std::int32_t max_features = 60;  // Only consider the top 60 words
  const std::int64_t maxlen = 10;        // Only consider the first 10 words of each movie review
  // Input for variable-length sequences of integers
  const Input inputs({-1}, {.dtype = "int32"});
  // Embed each integer in a 12-dimensional vector
  Value x = layers::Embedding(max_features, 12)(inputs);
  // Add 2 bidirectional LSTMs
  x = layers::Bidirectional(layers::LSTM(8, {.return_sequences = true}))(x);
  x = layers::Bidirectional(layers::LSTM(8))(x);
  // Add a classifier
  const Value outputs = layers::Dense(1, {.activation = "sigmoid"})(x);
  Model model(inputs, outputs);
  auto expected = example("bidirectional_lstm_imdb");
  initialize(model, expected["shapes"]);

  const auto [train_lists, y_train] = rated_words(32, max_features);
  const auto [val_lists, y_val] = rated_words(16, max_features, 60);
  // Use pad_sequence to standardize sequence length:
  // this will truncate sequences longer than 10 words and zero-pad sequences shorter than 10 words.
  const Tensor x_train = pad_sequences(train_lists, {.maxlen = maxlen});
  const Tensor x_val = pad_sequences(val_lists, {.maxlen = maxlen});
  model.compile({.optimizer = "adam", .loss = "binary_crossentropy", .metrics = {"accuracy"}});
  const History history =
      model.fit(x_train, y_train,
                {.batch_size = 8, .epochs = 3, .verbose = 0, .validation_data = {x_val, y_val}, .shuffle = false});
  check_history(history, expected["history"]);
}

BOOST_AUTO_TEST_SUITE_END()
