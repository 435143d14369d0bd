#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "support/layers.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using mezzo_tests::paths_of;
using mezzo_tests::refused;
using mezzo_tests::Scale;

namespace {

/// Builds its sub-layers in its own build(), as in Keras.
class BuildsItself : public Model {
 public:
  BuildsItself() : Model("BuildsItself") {}
  void build(const Shape& input) override {
    inner_.build(input);
    head_.build({input.front(), 2});
  }

 protected:
  Value call(const Value& x) override { return head_(inner_(x)); }

 private:
  Sequential inner_ = sub("inner", Sequential({BatchNormalization(), Dense({.units = 2})}));
  Dense head_ = sub("head", Dense({.units = 1, .use_bias = false}));
};

}  // namespace

BOOST_AUTO_TEST_SUITE(building)

BOOST_AUTO_TEST_CASE(a_container_may_build_its_parts_itself_in_a_step_too) {
  for (const char* policy : {"", "bfloat16"}) {
    BuildsItself model;
    model.compile({.loss = "mse"});
    const Trainer trainer({.max_epochs = 1, .precision = Policy(policy), .enable_progress_bar = false});
    trainer.fit(model, DataLoader(Dataset::from_tensors({{"x", Tensor({2, 3})}, {"y", Tensor({2, 1}), Role::target}})));
    BOOST_TEST(paths_of(model) ==
               "inner/batch_normalization/gamma inner/batch_normalization/beta "
               "inner/batch_normalization/moving_mean inner/batch_normalization/moving_variance "
               "inner/dense/kernel inner/dense/bias head/kernel");
    BOOST_TEST((model.weights().back().dtype() == (*policy == 0 ? DType::float32 : DType::bfloat16)));
    BOOST_TEST((model.weights()[4].dtype() == (*policy == 0 ? DType::float32 : DType::bfloat16)));
  }
}

BOOST_AUTO_TEST_CASE(building_twice_keeps_the_weights) {
  Dense layer({.units = 3});
  layer.build({8, 4});
  const auto before = mezzo_tests::values_of(layer);
  const void* kernel = layer.weights().at(0).id();
  layer.build({8, 4});
  BOOST_TEST(to_string(layer(Tensor({2, 4})).shape()) == "(2, 3)");
  BOOST_TEST(layer.weights().size() == 2U);
  BOOST_TEST(layer.weights()[0].id() == kernel);
  BOOST_TEST(mezzo_tests::changed_since(before, layer) == "");
  BOOST_TEST(refused<ShapeError>([&] {
               layer.build({8, 5});
             }) == "[Dense] kernel was built with shape (4, 3); this input needs (5, 3)");
}

BOOST_AUTO_TEST_CASE(a_container_builds_what_it_contains_once) {
  Sequential model({Dense({.units = 3}), Sequential({Dense({.units = 2})}), Scale()});
  BOOST_TEST(model.weights().empty());
  model.build({8, 4});
  BOOST_TEST(model.weights().size() == 5U);
  BOOST_TEST(to_string(model.weights()[2].shape()) == "(3, 2)");
  model.build({8, 4});
  model(Tensor({1, 4}));
  BOOST_TEST(model.weights().size() == 5U);
}

BOOST_AUTO_TEST_CASE(a_container_that_was_called_on_a_wrong_shape_can_be_built_after) {
  Sequential model({Flatten(), Dense({.units = 2})});
  BOOST_TEST(refused<ShapeError>([&] { model.build({}); }) != "");
  BOOST_TEST(refused<ShapeError>([&] { model(Tensor(Shape{})); }) != "");
  BOOST_TEST(model.weights().empty());
  model.build({8, 4});
  BOOST_TEST(paths_of(model) == "dense/kernel dense/bias");
}

BOOST_AUTO_TEST_CASE(an_input_in_front_builds_at_once) {
  const Sequential model({Input({.shape = {4}}), Dense({.units = 3})});
  BOOST_TEST(paths_of(model) == "dense/kernel dense/bias");
  BOOST_TEST(to_string(model.weights()[0].shape()) == "(4, 3)");
  Sequential empty({Input({.shape = {4}})});
  BOOST_TEST(empty.weights().empty());
  const Tensor x({1, 4}, std::vector<float>{1, 2, 3, 4});
  BOOST_TEST(empty(x).tensor().equal(x));
  BOOST_TEST(refused<ValueError>([] {
               Sequential({Dense({.units = 3}), Input({.shape = {4}})});
             }) == "[Sequential] Input must be the first layer; got one at index 1");
}

BOOST_AUTO_TEST_CASE(copies_share_weights_whether_made_before_or_after_the_build) {
  Scale first({.initial = 2});
  Scale before = first;
  const Tensor x({2, 4}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
  BOOST_TEST(before(x).tensor().to_doubles()[7] == 16.0);
  BOOST_TEST(first(x).tensor().to_doubles()[7] == 16.0);
  Scale after = first;
  BOOST_TEST(first.weights().at(0).id() == before.weights().at(0).id());
  after.weights()[0].assign(Tensor({4}, std::vector<float>{0, 0, 0, 3}));
  BOOST_TEST(first(x).tensor().to_doubles()[7] == 24.0);
  BOOST_TEST(before(x).tensor().to_doubles()[7] == 24.0);
}

BOOST_AUTO_TEST_CASE(what_was_moved_from_keeps_its_weights) {
  Scale layer({.initial = 2});
  const Tensor x({1, 2}, std::vector<float>{1, 2});
  layer(x);
  Scale moved = std::move(layer);
  BOOST_TEST(moved(x).tensor().to_doubles()[1] == 4);
  BOOST_TEST(layer.weights().at(0).id() == moved.weights().at(0).id());  // NOLINT(bugprone-use-after-move)
  Sequential model({Dense({.units = 1})});
  model.build({1, 2});
  Sequential other = std::move(model);
  BOOST_TEST(model.weights().size() == 2U);  // NOLINT(bugprone-use-after-move)
  BOOST_TEST(other(x).tensor().size() == 1);
}

BOOST_AUTO_TEST_CASE(weights_need_known_sizes) {
  Dense layer({.units = 3});
  BOOST_TEST(refused<ShapeError>([&] {
               layer.build({8, -1});
             }) == "[Dense] input axis -1 must have a known size; got shape (8, ?)");
  BOOST_TEST(refused<ValueError>([&] { layer(Values{}); }) == "[Dense] takes at least one input; got 0");
  BOOST_TEST(refused<ValueError>([&] { layer({Tensor({1, 2}), Tensor({1, 2})}); }) == "[Dense] takes one input; got 2");
}

BOOST_AUTO_TEST_CASE(an_assignment_must_fit_and_takes_the_variables_dtype) {
  Dense layer({.units = 1, .dtype = "bfloat16"});
  layer.build({1, 2});
  layer.weights()[0].assign(Tensor({2, 1}, std::vector<double>{1.0, 1.001}));
  BOOST_TEST((layer.weights()[0].dtype() == DType::bfloat16));
  BOOST_TEST(layer.weights()[0].value().to_doubles()[1] == 1.0);
  BOOST_TEST(refused<ShapeError>([&] { layer.weights()[0].assign(Tensor({2})); }) ==
             "[Variable \"kernel\"] assign: shape must be (2, 1); got (2,)");
}

BOOST_AUTO_TEST_SUITE_END()
