// Tells whether the words of a clause stand in a valid order, by one encoder block: see shuffled_clauses.py.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "parity/programs/programs.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// Kinds of the words in valid clauses: determiner, adjective, noun, verb, manner.
const std::string kinds_of_words = "danvm";
const std::vector<std::string> valid_orders{"dnv", "dnvm", "dnvdn", "danvdn", "danvm", "dnvdanm"};
constexpr int words_per_kind = 3;
constexpr std::int64_t clause_length = 8;

// Lists of numbers of words, from 1 on, and 1 for valid ones. The others begin with their second or third word.
std::pair<std::vector<std::vector<int>>, Tensor> clauses(std::uint32_t stream, std::int64_t count) {
  const Value late = random_integers(stream, {count}, 2) * (1 + random_integers(stream + 1, {count}, 2));
  const Tensor order = random_integers(stream + 2, {count}, static_cast<int>(valid_orders.size()));
  const Tensor choices = random_integers(stream + 3, {count, clause_length}, words_per_kind);
  std::vector<std::vector<int>> lists;
  for (std::int64_t i = 0; i < count; ++i) {
    std::vector<int> words;
    for (const char kind : valid_orders[static_cast<std::size_t>(order(i).item())]) {
      const double choice = choices(i, words.size()).item();
      words.push_back(1 + words_per_kind * static_cast<int>(kinds_of_words.find(kind)) + static_cast<int>(choice));
    }
    std::rotate(words.begin(), words.begin() + static_cast<int>(late(i).item()), words.end());
    lists.push_back(words);
  }
  return {lists, cast(equal(late, 0), DType::int32)};
}

// docs: begin
// Sum of a vector for each word and one for its place.
class WordsInPlaces : public Layer {
 public:
  WordsInPlaces(std::int64_t words, std::int64_t places, std::int64_t width)
      : Layer("WordsInPlaces"),
        of_words_(sub("of_words", layers::Embedding({.input_dim = words, .output_dim = width}))),
        of_places_(sub("of_places", layers::Embedding({.input_dim = places, .output_dim = width}))) {}

 protected:
  Value call(const Value& numbers) override { return of_words_(numbers) + of_places_(arange(0, shape(numbers)[1], 1)); }

 private:
  layers::Embedding of_words_, of_places_;
};

// Adds to its input what a layer makes of it, and normalizes the sum. The layer gets the input `times` times.
class Refined : public Layer {
 public:
  explicit Refined(Any<Layer> layer, std::size_t times = 1)
      : Layer("Refined"), layer_(std::move(layer)), times_(times) {}

 protected:
  Value call(const Value& x) override { return normalize_(x + drop_(layer_(Values(times_, x))[0])); }

 private:
  Any<Layer> layer_;
  std::size_t times_;
  layers::Dropout drop_{0.0};
  layers::LayerNormalization normalize_{{.epsilon = 1e-5}};
};
// docs: end

Model judge_of_clauses(std::int64_t words, std::int64_t width) {
  // docs: begin
  const Input numbers({clause_length}, {.dtype = "int32"});
  const layers::MultiHeadAttention attention({.num_heads = 2, .key_dim = width / 2});
  const Sequential each_place({layers::Dense(2 * width, {.activation = "relu"}), layers::Dense(width)});
  Value encoded = WordsInPlaces(words, clause_length, width)(numbers);
  encoded = Refined(each_place)(Refined(attention, 2)(encoded));
  const Value summary = layers::GlobalAveragePooling1D()(encoded);
  return Model(numbers, layers::Dense(2, {.activation = "softmax"})(summary));
  // docs: end
}

}  // namespace

BOOST_AUTO_TEST_SUITE(shuffled_clauses)

BOOST_AUTO_TEST_CASE(losses_and_verdicts_equal_keras) {
  nlohmann::json expected = program("shuffled_clauses");
  const auto [lists, valid] = clauses(300, 64);
  const auto [unseen_lists, unseen_valid] = clauses(310, 24);
  Model model = judge_of_clauses(1 + static_cast<int>(kinds_of_words.size()) * words_per_kind, 8);
  initialize(model, expected["shapes"]);
  // docs: begin
  const Tensor padded = pad_sequences(lists, {.maxlen = clause_length, .padding = "post"});
  const Tensor unseen = pad_sequences(unseen_lists, {.maxlen = clause_length, .padding = "post"});
  model.compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  const History history = model.fit(
      padded, valid,
      {.batch_size = 4, .epochs = 15, .verbose = 0, .validation_data = {unseen, unseen_valid}, .shuffle = false});
  const Tensor verdicts = model.predict(unseen);
  // docs: end
  check_history(history, expected["history"]);
  check_numbers("padded", padded.to_doubles(), expected["padded"]);
  check_numbers("verdict", verdicts(all, 1).to_doubles(), expected["verdicts"]);
}

BOOST_AUTO_TEST_SUITE_END()
