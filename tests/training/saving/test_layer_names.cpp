// What files can't hold is refused when a layer gets its name or is built, not when it is saved or loaded.
#include <boost/test/unit_test.hpp>

#include <mezzo/core/random.hpp>

#include "support/refused.hpp"
#include "training/saving/round_trip.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const std::string rule = R"(must be no path (without "/" and "\", not "." or ".."); got )";

class Pair : public Layer {
 public:
  Pair(const std::string& first, const std::string& second) : Layer("Pair"), first_(first), second_(second) {}
  void build(const Shape& input) override {
    add_weight(first_, {.shape = {input.back()}});
    add_weight(second_, {.shape = {input.back()}});
  }

 protected:
  Value call(const Value& x) override { return x * first_ + second_; }

 private:
  Variable first_, second_;
};

class Holder : public Model {
 public:
  explicit Holder(const std::string& name) : Model("Holder"), layer_(sub(name, Dense(2))) {}

 protected:
  Value call(const Value& x) override { return layer_(x); }

 private:
  Dense layer_;
};

/// Makes models of random structures and names, of inputs and outputs of size 4.
class Generator {
 public:
  explicit Generator(std::uint64_t key) : state_(detail::mix(41, key)) {}

  Sequential sequence(int depth) {
    std::vector<Any<Layer>> layers;
    if (below(2) == 0) layers.push_back(Input({4}));
    for (std::uint64_t n = 1 + below(4); n > 0; --n) layers.push_back(layer(depth));
    if (below(3) == 0) layers.push_back(layers.back());
    return Sequential(layers, {.name = name()});
  }

  Model graph(int depth) {
    Input x({4}, {.name = name()});
    Values values{x};
    const Any<Layer> shared = layer(depth);
    for (std::uint64_t n = 1 + below(4); n > 0; --n) {
      const Value& from = values[below(values.size())];
      const Any<Layer> next = below(3) == 0 ? shared : layer(depth);
      values.push_back(below(3) == 0 ? next(from) + from * 0.5 : next(from));
    }
    return Model({.inputs = {x}, .outputs = {Value(Dense(4)(values.back()))}, .name = name()});
  }

  std::uint64_t below(std::uint64_t bound) { return (state_ = detail::mix(state_, 1)) % bound; }

 private:
  std::string name() {
    static const std::vector<std::string> names = {
        "", "", "", "x", "y", "x.y", "y.x", "x.y.x", "a b", "..x", "x..", "dense", "dense_1", "sequential", "layers",
        "\u00fc", "\n", "\"", "{}", "model", "weight", "x.weight", "__metadata__", std::string("x\0y", 3),
        // never made:
        "a/b", ".", "..", "a\\b", "\xff"};
    return names[below(names.size())];
  }

  Any<Layer> layer(int depth) {
    switch (below(depth > 0 ? 8 : 5)) {
      case 0:
        return ReLU({.name = name()});
      case 1:
        return LayerNormalization({.name = name()});
      case 2:
        return Dropout(0.5, {.name = name()});
      case 5:
        return graph(depth - 1);
      case 6:
      case 7:
        return sequence(depth - 1);
      default:
        return Dense(4, {.name = name()});
    }
  }

  std::uint64_t state_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(layer_names)

BOOST_AUTO_TEST_CASE(a_path_is_no_name) {
  for (const std::string name : {"block1/conv", ".", "..", "a\\b"}) {
    const std::string got = rule + "\"" + name + "\"";
    BOOST_TEST(refused<NameError>([&] { Dense(2, {.name = name}); }) == "[Dense] name " + got);
    BOOST_TEST(refused<NameError>([&] { Sequential({Dense(2)}, {.name = name}); }) == "[Sequential] name " + got);
    BOOST_TEST(refused<NameError>([&] { Holder holder(name); }) == "[Holder] sub-layer name " + got);
  }
  BOOST_TEST(refused<NameError>([&] {
               Dense(2, {.name = "\xff"});
             }).find("[Dense] name must be UTF-8; got other bytes") == 0U);
  BOOST_TEST(refused<NameError>([&] { Input({2}, {.name = "\xff"}); }).find("[Input] name must be UTF-8") == 0U);
}

BOOST_AUTO_TEST_CASE(weights_of_one_name_in_files_are_refused_by_the_build) {
  const auto text = [](const std::string& where, const std::string& name) {
    return where + " names of weights in files must differ; got \"" + name +
           "\" twice (names of layers are joined by \".\")";
  };
  const auto inner = [] { return Sequential({Dense(3, {.name = "y"})}, {.name = "x"}); };
  BOOST_TEST(refused<NameError>([&] {
               Sequential({Input({3}), inner(), Dense(3, {.name = "x.y"})}, {.name = "m"});
             }) == text("[Sequential \"m\"]", "x.y.weight"));
  Input x({3});
  BOOST_TEST(refused<NameError>([&] { Model(x, Dense(3, {.name = "x.y"})(inner()(x))); }) ==
             text("[Functional]", "x.y.weight"));
  BOOST_TEST(refused<NameError>([&] {
               Pair("a", "a").build({1, 3});
             }) == "[Pair] names of weights must differ; got \"a\" twice");
  Sequential good({Input({3}), inner(), Dense(3, {.name = "x.z"})});
  round_trip(good, Tensor({2, 3}));
}

BOOST_AUTO_TEST_CASE(every_model_that_can_be_built_can_be_saved_and_loaded) {
  int saved = 0, refusals = 0;
  const int count = std::getenv("MEZZO_TEST_SMALL") != nullptr ? 60 : 400;
  for (int i = 0; i < count; ++i) {
    Generator generator(static_cast<std::uint64_t>(i));
    std::optional<Any<Model>> model;
    try {
      model = generator.below(2) == 0 ? Any<Model>(generator.sequence(2)) : Any<Model>(generator.graph(2));
      (*model)->build({2, 4});
    } catch (const NameError&) {
      ++refusals;
      continue;
    }
    BOOST_TEST_CONTEXT("model " << i) { BOOST_CHECK_NO_THROW(round_trip(**model, numbers({2, 4}))); }
    ++saved;
  }
  BOOST_TEST(saved >= count / 8);
  BOOST_TEST(refusals >= count / 8);
}

BOOST_AUTO_TEST_CASE(save_refuses_what_load_refuses) {
  const Folder folder;
  const auto refusal = [&](Model& model) {
    const std::string text = refused<Error>([&] { model.save(folder.path("a.mezzo")); });
    BOOST_TEST(!std::filesystem::exists(folder.path("a.mezzo")));
    return text;
  };
  Sequential deep({ReLU()});
  for (int i = 0; i < 40; ++i) deep = Sequential({deep});
  deep.build({2, 3});
  BOOST_TEST(refusal(deep) == "[config] objects must be nested at most 32 deep; got more");
  Sequential many({Input(Shape(17, 1)), ReLU()});
  BOOST_TEST(refusal(many).find("[save] input shape must have 1 to 16 sizes; got ") == 0U);
  Sequential large({Input({4}), RepeatVector(std::int64_t{1} << 32)});
  BOOST_TEST(refusal(large) == "[RepeatVector] n must be from -2147483648 to 2147483648; got 4294967296");
}

BOOST_AUTO_TEST_SUITE_END()
