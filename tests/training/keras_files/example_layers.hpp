#pragma once
#include <mezzo/mezzo.hpp>

#include <string>

// Classes of the programs of tests/parity/programs with the options that Keras' files have: see keras_examples.py.
namespace mezzo::example_layers {

struct PiecesOptions {
  std::int64_t side = 1;
  std::string name{};
  Policy dtype{};
};
inline void describe(Fields& fields, PiecesOptions& options) { fields("side", options.side); }

inline Value tiles_of(const Value& pictures, std::int64_t side) {
  const Value tiles = image::extract_patches(pictures, side);
  const Values sizes = shape(tiles);
  return reshape(tiles, {sizes[0], sizes[1] * sizes[2], sizes[3]});
}

class Pieces : public Layer {
 public:
  explicit Pieces(const PiecesOptions& options) : Layer("Pieces", options), side_(options.side) {}

 protected:
  Value call(const Value& pictures) override { return tiles_of(pictures, side_); }

 private:
  std::int64_t side_;
};

struct PlacedOptions {
  std::int64_t places = 1, units = 1;
  std::string name{};
  Policy dtype{};
};
inline void describe(Fields& fields, PlacedOptions& options) {
  fields("places", options.places);
  fields("units", options.units);
}

class Placed : public Layer {
 public:
  explicit Placed(const PlacedOptions& options)
      : Layer("Placed", options),
        places_(options.places),
        look_(sub("look", Dense(options.units))),
        place_(sub("place", Embedding(options.places, options.units))) {}

 protected:
  Value call(const Value& pieces) override { return look_(pieces) + place_(expand_dims(arange(0, places_, 1), 0)); }

 private:
  std::int64_t places_;
  Dense look_;
  Embedding place_;
};

struct CutterOptions {
  std::int64_t side = 1, width = 1;
  std::string name{};
  Policy dtype{};
};
inline void describe(Fields& fields, CutterOptions& options) {
  fields("side", options.side);
  fields("width", options.width);
}

class Cutter : public Layer {
 public:
  explicit Cutter(const CutterOptions& options)
      : Layer("Cutter", options), side_(options.side), features_(sub("features", Dense(options.width))) {}

 protected:
  Value call(const Value& pictures) override { return features_(tiles_of(pictures, side_)); }

 private:
  std::int64_t side_;
  Dense features_;
};

struct MixOptions {
  std::int64_t axis = 1, hidden = 1;
  std::string name{};
  Policy dtype{};
};
inline void describe(Fields& fields, MixOptions& options) {
  fields("axis", options.axis);
  fields("hidden", options.hidden);
}

class Mix : public Layer {
 public:
  explicit Mix(const MixOptions& options) : Layer("Mix", options), axis_(options.axis), hidden_(options.hidden) {}

  void build(const Shape& input) override {
    dense_ = sub("dense", Sequential({Dense(hidden_, {.activation = "gelu"}), Dropout(0.0),
                                      Dense(input[static_cast<std::size_t>(axis_)])}));
  }

 protected:
  Value call(const Value& x) override {
    const Value y = norm_(x);
    if (axis_ == 2) return x + dense_(y);
    return x + transpose(dense_(transpose(y, {0, 2, 1})), {0, 2, 1});
  }

 private:
  std::int64_t axis_, hidden_;
  LayerNormalization norm_ = sub("norm", LayerNormalization({.epsilon = 1e-5}));
  Sequential dense_;
};

struct RecollectionOptions {
  Shape reaches{1};
  std::int64_t width = 1;
  std::string name{};
  Policy dtype{};
};
inline void describe(Fields& fields, RecollectionOptions& options) {
  fields("reaches", options.reaches);
  fields("width", options.width);
}

class Recollection : public Layer {
 public:
  explicit Recollection(const RecollectionOptions& options)
      : Layer("Recollection", options), reaches_(options.reaches), width_(options.width) {}

 protected:
  Value call(const Value& x) override {
    const Value y = norm_input_(x), place = arange(shape(x)[1]);
    const Value gap = reshape(place, {shape(x)[1], 1}) - place, past = cast(gap >= 0, DType::int32);
    Values heads;
    for (const auto reach : reaches_) heads.push_back(expand_dims(past * cast(gap < reach, DType::int32), {0, 1}));
    const Value sum = x + attend_(y, y, {.attention_mask = cast(concatenate(heads, 1), DType::boolean)});
    return sum + dense_(norm_sum_(sum));
  }

 private:
  Shape reaches_;
  std::int64_t width_, heads_ = std::ssize(reaches_);
  LayerNormalization norm_input_ = sub("norm_input", LayerNormalization({.epsilon = 1e-5}));
  MultiHeadAttention attend_ = sub("attend", MultiHeadAttention(heads_, width_ / heads_));
  LayerNormalization norm_sum_ = sub("norm_sum", LayerNormalization({.epsilon = 1e-5}));
  Sequential dense_ =
      sub("dense", Sequential({Dense(2 * width_, {.activation = "relu"}), Dense(width_), Dropout(0.0)}));
};

struct PlacedWordsOptions {
  std::int64_t words = 1, width = 1;
  std::string name{};
  Policy dtype{};
};
inline void describe(Fields& fields, PlacedWordsOptions& options) {
  fields("words", options.words);
  fields("width", options.width);
}

class PlacedWords : public Layer {
 public:
  explicit PlacedWords(const PlacedWordsOptions& options)
      : Layer("PlacedWords", options),
        of_word_(sub("of_word", Embedding(options.words, options.width))),
        of_place_(sub("of_place", Embedding(5, options.width))) {}

 protected:
  Value call(const Value& line) override { return of_word_(line) + of_place_(arange(shape(line)[1])); }

 private:
  Embedding of_word_, of_place_;
};

class PixelsOfBlocks : public Layer {
 public:
  explicit PixelsOfBlocks(const PiecesOptions& options) : Layer("PixelsOfBlocks", options), side_(options.side) {}

 protected:
  Value call(const Value& x) override {
    const Value rows = shape(x)[1], columns = shape(x)[2];
    const Value lines = transpose(reshape(x, {-1, rows, columns, side_, side_}), {0, 1, 3, 2, 4});
    return reshape(lines, {-1, rows * side_, columns * side_, 1});
  }

 private:
  std::int64_t side_;
};

struct WordsInPlacesOptions {
  std::int64_t words = 1, places = 1, width = 1;
  std::string name{};
  Policy dtype{};
};
inline void describe(Fields& fields, WordsInPlacesOptions& options) {
  fields("words", options.words);
  fields("places", options.places);
  fields("width", options.width);
}

class WordsInPlaces : public Layer {
 public:
  explicit WordsInPlaces(const WordsInPlacesOptions& options)
      : Layer("WordsInPlaces", options),
        of_words_(sub("of_words", Embedding(options.words, options.width))),
        of_places_(sub("of_places", Embedding(options.places, options.width))) {}

 protected:
  Value call(const Value& numbers) override { return of_words_(numbers) + of_places_(arange(0, shape(numbers)[1], 1)); }

 private:
  Embedding of_words_, of_places_;
};

struct RefinedOptions {
  Any<Layer> layer{};
  std::int64_t times = 1;
  std::string name{};
  Policy dtype{};
};
inline void describe(Fields& fields, RefinedOptions& options) {
  fields("layer", options.layer);
  fields("times", options.times);
}

class Refined : public Layer {
 public:
  explicit Refined(const RefinedOptions& options)
      : Layer("Refined", options), layer_(sub("layer", detail::SubLayer{options.layer}).layer), times_(options.times) {}

 protected:
  Value call(const Value& x) override {
    return normalize_(x + drop_(layer_(Values(static_cast<std::size_t>(times_), x))[0]));
  }

 private:
  Any<Layer> layer_;
  std::int64_t times_;
  Dropout drop_ = sub("drop", Dropout(0.0));
  LayerNormalization normalize_ = sub("normalize", LayerNormalization({.epsilon = 1e-5}));
};

struct PlainOptions {
  std::string name{};
  Policy dtype{};
};
inline void describe(Fields&, PlainOptions&) {}

class Posterior : public Layer {
 public:
  explicit Posterior(const PlainOptions& options) : Layer("Posterior", options) {}

 protected:
  Values call_many(const Values& xs) override {
    const Value center = xs[0], spread = xs[1], noise = xs[2];
    const Value distance = sum(square(center) + exp(spread) - spread - 1, {.axes = {1}}) / 2;
    return {center + exp(spread / 2) * noise, distance};
  }
};

class Pairing : public Model {
 public:
  explicit Pairing(const PlainOptions& options) : Model("Pairing", options) {}

  void build(const Shape&) override { add_weight(bridge_, {.shape = {5, 3}}); }

 protected:
  Value call(const Value& pairs) override {
    const Value dish = dishes_(pairs(all, 0)), wine = wines_(pairs(all, 1));
    const Value wanted = tensordot(dish(all, slice(1, std::nullopt)), bridge_, 1);
    const Value match = sum(wanted * wine(all, slice(1, std::nullopt)), {.axes = {1}, .keepdims = true});
    return sigmoid(match + dish(all, slice(0, 1)) + wine(all, slice(0, 1)));
  }

 private:
  static Embedding table(std::int64_t rows, std::int64_t width) {
    return Embedding(rows, width, {.embeddings_regularizer = L2(2e-3)});
  }
  Variable bridge_{"bridge"};
  Embedding dishes_ = sub("tables.0", table(9, 6)), wines_ = sub("tables.1", table(7, 4));
};

inline void register_all() {
  register_class<Pieces, PiecesOptions>("examples>Pieces");
  register_class<Placed, PlacedOptions>("examples>Placed");
  register_class<Cutter, CutterOptions>("examples>Cutter");
  register_class<Mix, MixOptions>("examples>Mix");
  register_class<Recollection, RecollectionOptions>("examples>Recollection");
  register_class<PlacedWords, PlacedWordsOptions>("examples>PlacedWords");
  register_class<PixelsOfBlocks, PiecesOptions>("examples>PixelsOfBlocks");
  register_class<WordsInPlaces, WordsInPlacesOptions>("examples>WordsInPlaces");
  register_class<Refined, RefinedOptions>("examples>Refined");
  register_class<Posterior, PlainOptions>("examples>Posterior");
  register_model<Pairing, PlainOptions>("examples>Pairing");
}

}  // namespace mezzo::example_layers
