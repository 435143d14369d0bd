#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "support/layers.hpp"
#include "support/recorded.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using mezzo_tests::paths_of;
using mezzo_tests::refused;

namespace {

class Tower : public Module {
 public:
  explicit Tower(Dense layer) : Module("Tower"), layer_(sub("x", std::move(layer))) {}

 protected:
  Value call(const Value& x) override { return layer_(x); }

 private:
  Dense layer_;
};

struct BlockOptions {
  std::int64_t units = 4;
  std::string name{};
  Policy dtype{};
};

class Block : public Layer {
 public:
  explicit Block(BlockOptions options = {}) : Layer("Block", options), options_(std::move(options)) {}

 protected:
  Value call(const Value& x) override { return x + second_(first_(x)); }

 private:
  BlockOptions options_;  // declared before the sub-layers that use it
  Dense first_ = sub("first", Dense({.units = 2 * options_.units, .activation = "relu"}));
  Dense second_ = sub("second", Dense({.units = options_.units, .use_bias = false}));
};

class Tall : public Model {
 public:
  explicit Tall(int blocks) : Model("Tall") {
    for (int i = 0; i < blocks; ++i) blocks_.push_back(sub("block." + std::to_string(i), Block()));
  }

 protected:
  Value call(const Value& x) override {
    Value value = x;
    for (Block& block : blocks_) value = block(value);
    return head_(value);
  }

 private:
  std::vector<Block> blocks_;
  Dense head_ = sub("head", Dense({.units = 1}));
};

/// Sub-layers without sub(), one of them in a list.
class Undeclared : public Model {
 public:
  Undeclared() : Model("Undeclared") {}

 protected:
  Value call(const Value& x) override {
    Value value = head_(second_(first_(x)));
    for (Dense& layer : more_) value = layer(value);
    return first_(value);
  }

 private:
  Dense first_{{.units = 4}}, second_{{.units = 4}}, head_{{.units = 4, .name = "head"}};
  std::vector<Dense> more_{Dense({.units = 4})};
};

class DeclaresLate : public Layer {
 public:
  DeclaresLate() : Layer("DeclaresLate") {}
  void declare_again() { sub("late", Dense({.units = 1})); }

 protected:
  Value call(const Value& x) override { return x * 2; }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(names)

BOOST_AUTO_TEST_CASE(automatic_names_are_keras_and_count_from_the_second) {
  Sequential model({
      Rescaling({.scale = 0.5}),
      Conv2D({.filters = 2, .kernel_size = 1}),
      BatchNormalization(),
      Flatten(),
      mezzo_tests::Scale(),
      Dense({.units = 2}),
      Dense({.units = 2, .use_bias = false}),
      Dense({.units = 2, .use_bias = false}),
  });
  model.build({2, 3, 3, 1});
  BOOST_TEST(paths_of(model) ==
             "conv2d/kernel conv2d/bias batch_normalization/gamma batch_normalization/beta "
             "batch_normalization/moving_mean batch_normalization/moving_variance scale/gain "
             "dense/kernel dense/bias dense_1/kernel dense_2/kernel");
}

// keras.src.utils.naming.to_snake_case, recorded by tests/parity/names.py.
BOOST_AUTO_TEST_CASE(names_of_classes_equal_keras) {
  const nlohmann::json& names = mezzo_tests::recorded("names");
  BOOST_TEST(names.size() > 100U);
  for (const auto& [kind, name] : names.items()) BOOST_TEST(detail::snake_case(kind) == name.get<std::string>());
  RNN rnn(StackedRNNCells({LSTMCell(2), GRUCell(2)}));
  rnn.build({1, 3, 2});
  BOOST_TEST(paths_of(rnn).find("stacked_rnn_cells/lstm_cell/kernel") == 0U, paths_of(rnn));
}

BOOST_AUTO_TEST_CASE(an_automatic_name_belongs_to_the_entry_and_not_to_the_layer) {
  Dense shared({.units = 3});
  Sequential first({shared}), second({Dense({.units = 3}), shared});
  second.build({8, 3});
  BOOST_TEST(shared.name().empty());
  BOOST_TEST(paths_of(first) == "dense/kernel dense/bias");
  BOOST_TEST(paths_of(second) == "dense/kernel dense/bias dense_1/kernel dense_1/bias");
  BOOST_TEST(second.weights()[2].id() == first.weights()[0].id());
  const Tower tower(shared);
  BOOST_TEST(paths_of(tower) == "x/kernel x/bias");
  BOOST_TEST(paths_of(first) == "dense/kernel dense/bias");
}

BOOST_AUTO_TEST_CASE(an_explicit_name_goes_with_the_layer_but_sub_overrides_it) {
  Dense head({.units = 3, .name = "head"});
  head.build({8, 4});
  BOOST_TEST(paths_of(Sequential({Dense({.units = 4}), head})) == "head/kernel head/bias");
  BOOST_TEST(paths_of(Tower(head)) == "x/kernel x/bias");
  BOOST_TEST(head.name() == "head");
  BOOST_TEST(refused<NameError>([&] {
               Sequential({head, Dense({.units = 3, .name = "head"})});
             }) == "[Sequential] names of sub-layers must differ; got \"head\" twice");
}

BOOST_AUTO_TEST_CASE(paths_are_walked_from_the_root_that_is_asked) {
  Tall tall(2);
  tall.build({5, 4});
  BOOST_TEST(paths_of(tall) ==
             "head/kernel head/bias block.0/first/kernel block.0/first/bias block.0/second/kernel "
             "block.1/first/kernel block.1/first/bias block.1/second/kernel");
  const Sequential outer({tall});
  BOOST_TEST(outer.named_weights().front().first == "tall/head/kernel");
  BOOST_TEST(outer.weights().front().id() == tall.weights().front().id());
}

BOOST_AUTO_TEST_CASE(a_layer_used_twice_is_listed_once) {
  Dense twice({.units = 3});
  Sequential model({twice, ReLU(), twice});
  model.build({2, 3});
  BOOST_TEST(paths_of(model) == "dense/kernel dense/bias");
  Sequential inner({twice}), outer({twice, inner});
  BOOST_TEST(paths_of(outer) == "dense/kernel dense/bias");
}

BOOST_AUTO_TEST_CASE(sub_layers_that_were_not_declared_are_adopted_at_the_first_call) {
  Undeclared model;
  BOOST_TEST(paths_of(model) == "");
  model(Tensor({2, 4}));
  const std::string expected =
      "dense/kernel dense/bias dense_1/kernel dense_1/bias head/kernel head/bias dense_2/kernel dense_2/bias";
  BOOST_TEST(paths_of(model) == expected);
  model(Tensor({3, 4}));
  BOOST_TEST(paths_of(model) == expected);
}

BOOST_AUTO_TEST_CASE(sub_after_the_first_call_is_refused) {
  DeclaresLate layer;
  layer(Tensor({1, 1}));
  BOOST_TEST(refused<ValueError>([&] { layer.declare_again(); }) ==
             "[DeclaresLate] sub(\"late\") must come before the first call, in the constructor; got it after a call");
}

BOOST_AUTO_TEST_CASE(one_sequential_in_braces_nests) {
  const Sequential inner({Dense({.units = 3})});
  Sequential outer({Dense({.units = 3}), inner}, {.name = "outer"});
  outer.build({8, 4});
  BOOST_TEST(paths_of(outer) == "dense/kernel dense/bias sequential/dense/kernel sequential/dense/bias");
  BOOST_TEST(paths_of(Sequential({inner})) == "sequential/dense/kernel sequential/dense/bias");
  BOOST_TEST(outer.name() == "outer");
}

BOOST_AUTO_TEST_CASE(get_layer_finds_by_path_and_lists_the_names) {
  Tall tall(1);
  tall.build({5, 4});
  BOOST_TEST(tall.get_layer("block.0/second").weights().front().id() == tall.weights().back().id());
  BOOST_TEST(refused<NameError>([&] { tall.get_layer("block.0/third"); }) ==
             "[Tall] unknown layer \"third\"; valid names: first, second");
  BOOST_TEST(refused<ValueError>([&] { tall.get_layer("head").output(); }) ==
             "[Model] layer \"head\" must be part of a functional graph; got one without a symbol");
}

BOOST_AUTO_TEST_SUITE_END()
