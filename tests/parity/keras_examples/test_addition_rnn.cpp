// keras.io/examples/nlp/addition_rnn: see addition_rnn.py.
#include <boost/test/unit_test.hpp>

#include "parity/keras_examples/examples.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// Parameters for the model and dataset.
const std::int64_t training_size = 48;
const std::size_t digits = 2;
const bool reversed = true;
// Maximum length of input is 'int + int' (e.g., '34+78'). Maximum length of int is digits.
const std::size_t maxlen = digits + 1 + digits;

// Given a set of characters: encode them to a one-hot integer representation, decode them.
class CharacterTable {
 public:
  // Initialize character table.
  explicit CharacterTable(std::string chars) : chars_(std::move(chars)) { std::sort(chars_.begin(), chars_.end()); }

  // One-hot encode the strings.
  Tensor encode(const std::vector<std::string>& strings) const {
    std::vector<Value> x;
    for (const std::string& string : strings) {
      std::vector<std::int32_t> indices;
      for (const char c : string) indices.push_back(static_cast<std::int32_t>(chars_.find(c)));
      x.push_back(one_hot(Tensor({static_cast<std::int64_t>(indices.size())}, indices), size()));
    }
    return stack(x).tensor();
  }

  // Decode the given vector of indices, or the 2D array, to their character output.
  std::string decode(const Tensor& x, bool calc_argmax = true) const {
    std::string out;
    for (const double i : (calc_argmax ? argmax(x, -1).tensor() : x).to_doubles()) {
      out += chars_[static_cast<std::size_t>(i)];
    }
    return out;
  }

  std::int64_t size() const { return static_cast<std::int64_t>(chars_.size()); }

 private:
  std::string chars_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(addition_rnn)

BOOST_AUTO_TEST_CASE(losses_are_those_of_keras) {
  // All the numbers, plus sign and space for padding.
  const std::string chars = "0123456789+ ";
  const CharacterTable ctable(chars);

  std::vector<std::string> questions;
  std::vector<std::string> answers;
  const Tensor numbers = random_integers(1, {training_size, 2}, 100);
  for (std::int64_t i = 0; i < training_size; ++i) {
    const int a = numbers.data<std::int32_t>()[2 * i], b = numbers.data<std::int32_t>()[2 * i + 1];
    // Pad the data with spaces such that it is always maxlen.
    std::string query = std::to_string(a) + "+" + std::to_string(b);
    query.resize(maxlen, ' ');
    std::string ans = std::to_string(a + b);
    // Answers can be of maximum size digits + 1.
    ans.resize(digits + 1, ' ');
    if (reversed) {
      // Reverse the query, e.g., '12+345  ' becomes '  543+21'. (Note the space used for padding.)
      std::reverse(query.begin(), query.end());
    }
    questions.push_back(query);
    answers.push_back(ans);
  }

  const Tensor x = ctable.encode(questions);
  const Tensor y = ctable.encode(answers);

  // Explicitly set apart a part for validation data that we never train over.
  const std::int64_t split_at = training_size - training_size / 4;
  const Tensor x_train = x(slice(split_at)), x_val = x(slice(split_at, std::nullopt));
  const Tensor y_train = y(slice(split_at)), y_val = y(slice(split_at, std::nullopt));

  const int num_layers = 1;  // Try to add more LSTM layers!
  Sequential model;
  // "Encode" the input sequence using a LSTM, producing an output of size 16.
  // Note: In a situation where your input sequences have a variable length, use Input({-1, num_feature}).
  model.add(Input({maxlen, ctable.size()}));
  model.add(layers::LSTM(16));
  // As the decoder RNN's input, repeatedly provide with the last output of RNN for each time step.
  model.add(layers::RepeatVector(digits + 1));
  // The decoder RNN could be multiple layers stacked or a single layer.
  for (int i = 0; i < num_layers; ++i) {
    // By setting return_sequences to true, return not only the last output but all the outputs so far.
    model.add(layers::LSTM(16, {.return_sequences = true}));
  }
  // Apply a dense layer to every temporal slice of an input.
  model.add(layers::Dense(ctable.size(), {.activation = "softmax"}));
  model.compile({.optimizer = "adam", .loss = "categorical_crossentropy", .metrics = {"accuracy"}});
  auto expected = example("addition_rnn");
  initialize(model, expected["shapes"]);

  // Train the model each generation and show predictions against the validation dataset.
  const ValidationData val_ds = {x_val, y_val};
  for (const auto& generation : expected["history"]) {
    const FitOptions options = {
        .batch_size = 8, .epochs = 1, .verbose = 0, .validation_data = val_ds, .shuffle = false};
    check_history(model.fit(x_train, y_train, options), generation);
  }
  for (const int ind : {0, 1, 2, 3}) {
    // Select samples from the validation set so we can visualize errors.
    const Tensor rowx = x_val(slice(ind, ind + 1)), rowy = y_val(slice(ind, ind + 1));
    const Tensor preds = argmax(model.predict(rowx), -1).tensor();
    std::string q = ctable.decode(rowx(0));
    const std::string correct = ctable.decode(rowy(0));
    const std::string guess = ctable.decode(preds(0), false);
    if (reversed) std::reverse(q.begin(), q.end());
    BOOST_TEST("Q " + q + " T " + correct + " G " + guess == expected["guesses"][ind]);
  }
}

BOOST_AUTO_TEST_SUITE_END()
