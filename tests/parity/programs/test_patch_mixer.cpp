// Names the patterns of beadwork by mixing patches and features: see patch_mixer.py.
#include <boost/test/unit_test.hpp>

#include "parity/programs/programs.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// (a, b, period, run): beads have the first color where (a row + b column) % period < run.
const Tensor patterns = {{1, 1, 2, 1}, {1, 1, 4, 2}, {2, 1, 5, 1}, {1, 2, 4, 2}};  // checks, slants, dots, steps
constexpr std::int64_t side = 12;

// Pictures of two colors with two channels, and the numbers of their patterns.
std::pair<Tensor, Tensor> beadwork(std::int64_t count) {
  const Tensor kinds = random_integers(1, {count}, 4);
  const auto rule = [&](int entry) { return patterns(kinds, entry)(all, newaxis, newaxis); };
  const Tensor beads = arange(side);
  const Value place = rule(0) * reshape(beads, {side, 1}) + rule(1) * beads + random_integers(2, {count, 1, 1}, 5);
  const Value is_first = expand_dims(place % rule(2) < rule(3), -1);
  const Tensor first = uniform_numbers(3, {count, 1, 1, 2}), second = uniform_numbers(4, {count, 1, 1, 2});
  return {where(is_first, first, second) + 0.3 * normal_numbers(5, {count, side, side, 2}), kinds};
}

// Cuts pictures into square tiles and maps each tile to `width` features.
class Cutter : public Layer {
 public:
  Cutter(int tile, int width) : Layer("Cutter"), tile_(tile), features_(sub("features", Dense({.units = width}))) {}

 protected:
  Value call(const Value& pictures) override {
    const Value tiles = image::extract_patches(pictures, tile_);
    const Values sizes = shape(tiles);
    return features_(reshape(tiles, {sizes[0], sizes[1] * sizes[2], sizes[3]}));
  }

 private:
  int tile_;
  Dense features_;
};

// Adds to its input what two dense layers make of it, across the tiles (axis 1) or the features (axis 2).
class Mix : public Layer {
 public:
  Mix(std::size_t axis, int hidden) : Layer("Mix"), axis_(axis), hidden_(hidden) {}

  void build(const Shape& input) override {
    dense_ = Sequential(
        {Dense({.units = hidden_, .activation = "gelu"}), Dropout({.rate = 0.0}), Dense({.units = input[axis_]})});
  }

 protected:
  Value call(const Value& x) override {
    const Value y = norm_(x);
    if (axis_ == 2) return x + dense_(y);
    return x + transpose(dense_(transpose(y, {0, 2, 1})), {0, 2, 1});
  }

 private:
  std::size_t axis_;
  int hidden_;
  LayerNormalization norm_ = sub("norm", LayerNormalization({.epsilon = 1e-5}));
  Sequential dense_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(patch_mixer)

BOOST_AUTO_TEST_CASE(training_and_its_end_equal_keras) {
  auto expected = program("patch_mixer");
  const Input picture({side, side, 2});
  Value tiles = Cutter(3, 8)(picture);
  for (int i = 0; i < 2; ++i) tiles = Mix(2, 12)(Mix(1, 20)(tiles));
  const Value summary = GlobalAveragePooling1D()(LayerNormalization({.epsilon = 1e-5})(tiles));
  Model model({.inputs = {picture}, .outputs = {Dense({.units = 4})(summary)}});
  initialize(model, expected["weights"]);
  model.compile({.optimizer = AdamW({.learning_rate = 0.03, .weight_decay = 0.01}),
                 .loss = SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {SparseCategoricalAccuracy({.name = "acc"}),
                             SparseTopKCategoricalAccuracy({.k = 2, .name = "top_two"})}});
  const auto [pictures, kinds] = beadwork(64);
  const History history =
      model.fit(pictures, kinds,
                {.batch_size = 16,
                 .epochs = 12,
                 .verbose = 0,
                 .callbacks = {ReduceLROnPlateau({.monitor = "val_loss", .factor = 0.5, .patience = 1}),
                               EarlyStopping({.monitor = "val_loss", .patience = 3, .restore_best_weights = true})},
                 .validation_split = 0.25,
                 .shuffle = false});
  check_history(history, expected["history"]);
  check_logs(model.evaluate(rows(pictures, 48, 64), rows(kinds, 48, 64)), expected["best"]);
}

BOOST_AUTO_TEST_SUITE_END()
