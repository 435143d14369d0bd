// Learns lines of verse by a causal transformer, and continues an opening: see rhyme_writer.py.
#include <boost/test/unit_test.hpp>

#include <algorithm>

#include "parity/programs/programs.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const std::vector<std::string> verse_lines = {
    "the miller waits by the sea",   "the heron waits under a tree",   "the miller sings in the rain",
    "the heron sings down the lane", "our sexton sleeps by the sea",   "our heron sleeps under a tree",
    "our sexton walks in the rain",  "our miller walks down the lane", "a heron walks by the mill",
    "a sexton sings under the hill", "a miller sleeps by the door",    "a stranger waits on the shore",
};
constexpr std::int64_t steps = 5;  // words that the model reads, all but the last one of a line

// docs: begin
// Mask (1, heads, steps, steps): head i sees a word and those before it, `reaches[i]` words in all.
Value sight(const Value& length, const Shape& reaches) {
  const Value place = arange(length);
  const Value gap = reshape(place, {length, 1}) - place;
  const Value past = cast(gap >= 0, DType::int32);
  Values heads;
  for (const auto reach : reaches) heads.push_back(expand_dims(past * cast(gap < reach, DType::int32), {0, 1}));
  return cast(concatenate(heads, 1), DType::boolean);
}

// Adds to each word what it recalls of those before it, and then what a dense network makes of the sum.
class Recollection : public Layer {
 public:
  Recollection(const Shape& reaches, std::int64_t width) : Layer("Recollection"), reaches_(reaches), width_(width) {}

 protected:
  Value call(const Value& x) override {
    const Value y = norm_input_(x);
    const Value sum = x + attend_(y, y, {.attention_mask = sight(shape(x)[1], reaches_)});
    return sum + dense_(norm_sum_(sum));
  }

 private:
  Shape reaches_;
  std::int64_t width_, heads_ = std::ssize(reaches_);
  layers::LayerNormalization norm_input_ = sub("norm_input", layers::LayerNormalization({.epsilon = 1e-5}));
  layers::MultiHeadAttention attend_ = sub("attend", layers::MultiHeadAttention(heads_, width_ / heads_));
  layers::LayerNormalization norm_sum_ = sub("norm_sum", layers::LayerNormalization({.epsilon = 1e-5}));
  Sequential dense_ = sub("dense", Sequential({
                                       layers::Dense(2 * width_, {.activation = "relu"}),
                                       layers::Dense(width_),
                                       layers::Dropout(0.0),
                                   }));
};
// docs: end

// Vectors of words, each plus that of its place in the line.
class PlacedWords : public Layer {
 public:
  PlacedWords(std::int64_t words, std::int64_t width)
      : Layer("PlacedWords"),
        of_word_(sub("of_word", Embedding({.input_dim = words, .output_dim = width}))),
        of_place_(sub("of_place", Embedding({.input_dim = steps, .output_dim = width}))) {}

 protected:
  Value call(const Value& line) override { return of_word_(line) + of_place_(arange(shape(line)[1])); }

 private:
  Embedding of_word_, of_place_;
};

// docs: begin
// Continues an opening after each epoch: each draw decides among the three best words.
class Writer : public Callback {
 public:
  Writer(std::string opening, TextVectorization reader, Tensor draws)
      : opening_(std::move(opening)), reader_(std::move(reader)), draws_(std::move(draws)) {}

  void on_epoch_end(int epoch, Logs&) override {
    std::string line = opening_;
    for (auto place = std::count(line.begin(), line.end(), ' '); place < steps; ++place) {
      const Tensor scores = model().predict_all(reader_({line})(all, slice(0, steps)))[0];
      const TopK best = top_k(scores(0, place), 3);
      const Value chances = cumsum(softmax(best.values));
      const Value word = best.indices(searchsorted(chances, draws_(epoch, place)));
      line += " " + reader_.get_vocabulary()[static_cast<std::size_t>(word.item())];
    }
    verse.push_back(line);
  }

  std::vector<std::string> verse;

 private:
  std::string opening_;
  TextVectorization reader_;
  Tensor draws_;
};
// docs: end

}  // namespace

BOOST_AUTO_TEST_SUITE(rhyme_writer)

BOOST_AUTO_TEST_CASE(losses_and_verse_equal_keras) {
  auto expected = program("rhyme_writer");
  // docs: begin
  TextVectorization reader({.output_sequence_length = steps + 1});
  reader.adapt(verse_lines);
  const std::int64_t count = reader.vocabulary_size();
  const Input line({steps}, {.dtype = "int32"});
  Value state = PlacedWords(count, 16)(line);
  for (int i = 0; i < 2; ++i) state = Recollection({2, steps}, 16)(state);
  const Value scores = layers::Dense(count)(state);
  Model model({.inputs = {line}, .outputs = {scores, state}});
  const losses::SparseCategoricalCrossentropy cross_entropy({.from_logits = true});
  model.compile({.optimizer = optimizers::Adam(0.02), .loss = {cross_entropy, {}}});
  // docs: end
  initialize(model, expected["weights"]);
  const Tensor numbers = reader(verse_lines);
  const Tensor read = numbers(all, slice(0, steps)), following = numbers(all, slice(1, std::nullopt));
  Writer writer("our sexton", reader, uniform_numbers(60, {6, steps}, 0, 1));
  const History history =
      model.fit(read, following, {.batch_size = 4, .epochs = 6, .verbose = 0, .callbacks = {writer}, .shuffle = false});
  check_numbers("loss of epoch", history["loss"], expected["loss"]);
  BOOST_TEST(writer.verse == expected["verse"].get<std::vector<std::string>>(), boost::test_tools::per_element());
  const Value states = model.predict_all(read)[1];
  check_numbers("length", sqrt(sum(states * states, {.axes = {1, 2}})).tensor().to_doubles(), expected["lengths"]);
}

BOOST_AUTO_TEST_SUITE_END()
