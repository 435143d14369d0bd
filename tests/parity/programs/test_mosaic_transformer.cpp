// Names the pattern of noisy mosaics by a small vision transformer: see mosaic_transformer.py.
#include <boost/test/unit_test.hpp>

#include "parity/programs/programs.hpp"
#include "support/folder.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr int stones = 10, pixels = 12, piece = 4, depth = 12;
// Factors of row and column, and the width of a stripe: rows, columns, checks, diagonals, broad columns.
const Tensor patterns = {{1, 0, 1}, {0, 1, 1}, {1, 1, 1}, {1, 1, 2}, {0, 1, 2}};

std::pair<Tensor, Tensor> mosaics(std::uint32_t stream, std::int64_t count) {
  const Tensor kinds = random_integers(stream, {count}, 5);
  const Value rules = patterns(kinds)(all, all, newaxis, newaxis);
  const Value row = arange(stones)(all, newaxis), column = arange(stones);
  const Value dark = floor_divide(rules(all, 0) * row + rules(all, 1) * column, rules(all, 2)) % 2;
  const Tensor tint = uniform_numbers(stream + 1, {count, 1, 1, 3}, 0.4, 1);
  return {dark(ellipsis, newaxis) * tint + 0.5 * uniform_numbers(stream + 2, {count, stones, stones, 3}), kinds};
}

// Cuts pictures into squares, each a row of its colors.
class Pieces : public Layer {
 public:
  explicit Pieces(int side) : Layer("Pieces"), side_(side) {}

 protected:
  Value call(const Value& pictures) override {
    const Value squares = image::extract_patches(pictures, side_);
    const Values sizes = shape(squares);
    return reshape(squares, {sizes[0], sizes[1] * sizes[2], sizes[3]});
  }

 private:
  int side_;
};

// Projects pieces and adds a vector of their place.
class Placed : public Layer {
 public:
  Placed(int places, int units)
      : Layer("Placed"),
        places_(places),
        look_(sub("look", Dense({.units = units}))),
        place_(sub("place", Embedding({.input_dim = places, .output_dim = units}))) {}

 protected:
  Value call(const Value& pieces) override { return look_(pieces) + place_(expand_dims(arange(0, places_, 1), 0)); }

 private:
  int places_;
  Dense look_;
  Embedding place_;
};

Value leveled(const Value& x) { return layers::LayerNormalization({.epsilon = 1e-5})(x); }

// One residual layer of the encoder among the places, and one at each place.
Value mixing(Value x) {
  const Value even = leveled(x);
  x = layers::Add()({x, layers::MultiHeadAttention({.num_heads = 2, .key_dim = 5, .dropout = 0.0})(even, even)});
  const Value wide = layers::Dense(2 * depth, {.activation = "gelu"})(leveled(x));
  return layers::Add()({layers::Dropout(0.0)(layers::Dense(depth)(wide)), x});
}

Model transformer(Sequential prepare) {
  const Input pictures({stones, stones, 3});
  Value x = Placed((pixels / piece) * (pixels / piece), depth)(Pieces(piece)(prepare(pictures)));
  for (int i = 0; i < 2; ++i) x = mixing(x);
  x = layers::Flatten()(leveled(x));
  return Model({.inputs = {pictures}, .outputs = {layers::Dense(5, {.name = "kind"})(x)}});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mosaic_transformer)

BOOST_AUTO_TEST_CASE(best_and_last_weights_equal_keras) {
  nlohmann::json keras = program("mosaic_transformer");
  const auto [pictures, kinds] = mosaics(1, 50);
  Normalization scale;
  scale.adapt(rows(pictures, 0, 40));
  Model model = transformer(Sequential({scale, layers::Resizing(pixels, pixels)}, {.name = "prepare"}));
  initialize(model, keras["shapes"]);
  model.compile({.optimizer = optimizers::AdamW({.learning_rate = 4e-3, .weight_decay = 0.02}),
                 .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {metrics::SparseCategoricalAccuracy({.name = "right"}),
                             metrics::SparseTopKCategoricalAccuracy({.k = 2, .name = "second_guess"})}});
  const auto [unseen, answers] = mosaics(11, 30);
  const Folder folder;
  const std::string best = folder.path("best.safetensors");
  ModelCheckpoint keep(best,
                       {.monitor = "val_right", .save_best_only = true, .save_weights_only = true, .mode = "max"});
  check_history(model.fit(pictures, kinds,
                          {.batch_size = 10,
                           .epochs = 4,
                           .verbose = 0,
                           .callbacks = {keep},
                           .validation_split = 0.2,
                           .shuffle = false}),
                keras["history"]);
  check_logs(model.evaluate(unseen, answers), keras["last"]);
  model.load_weights(best);
  check_logs(model.evaluate(unseen, answers), keras["best"]);
  check_numbers("logit", model.predict(rows(unseen, 0, 6)).to_doubles(), keras["logits"]);
}

BOOST_AUTO_TEST_SUITE_END()
