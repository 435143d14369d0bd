// Layers that calls of other layers make, and layers that contain or call themselves.
#include <mezzo/mezzo.hpp>

#include <boost/test/unit_test.hpp>

#include <functional>

#include "support/layers.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// Computes by a function of the test.
class By : public Layer {
 public:
  explicit By(std::function<Value(By&, const Value&)> function) : Layer("By"), function_(std::move(function)) {}

 protected:
  Value call(const Value& x) override { return function_(*this, x); }

 private:
  std::function<Value(By&, const Value&)> function_;
};

/// Makes its layer in build(), as Keras' layers may.
class Lazy : public Layer {
 public:
  Lazy() : Layer("Lazy") {}
  void build(const Shape&) override {
    if (!layer_) layer_ = Dense(2);
  }

 protected:
  Value call(const Value& x) override { return layer_(x); }

 private:
  Any<Layer> layer_;
};

class InStep : public Module {
 public:
  InStep() : Module("InStep") {}
  Value training_step(const Batch& batch) override { return mean(Dense(1, {.name = "fc"})(batch["x"])); }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD()}}; }
};

const Tensor x({2, 3});

std::string made_in(const std::string& parent, const std::string& name) {
  return parent +
         " a layer with weights must be held as long as its parent: as a member, by `sub(\"name\", ...)`, made before "
         "the "
         "call; got a new Dense in the call in place of \"" +
         name + "\", which is gone with its weights";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(layers_in_calls)

BOOST_AUTO_TEST_CASE(layers_with_weights_are_made_before) {
  By makes([](By&, const Value& v) { return Dense(2)(v); });
  makes(x);
  BOOST_TEST(refused<ValueError>([&] { makes(x); }) == made_in("[By]", "dense"));
  BOOST_TEST(refused<ValueError>([&] { makes(Input({3})); }) == made_in("[By]", "dense"));
  By clones([layer = Dense(2)](By&, const Value& v) { return clone(layer)(v); });
  clones(x);
  BOOST_TEST(refused<ValueError>([&] { clones(x); }) == made_in("[By]", "dense"));
  InStep module;
  BOOST_TEST(refused<ValueError>([&] {
               Trainer({.max_epochs = 1, .enable_progress_bar = false})
                   .fit(module, DataLoader(Dataset::from_tensors({{"x", x}}), {}));
             }) == made_in("[InStep]", "fc"));
}

BOOST_AUTO_TEST_CASE(layers_that_are_held_may_be_called) {
  By held([layer = Any<Layer>(Dense(2))](By&, const Value& v) { return layer(v); });
  BOOST_TEST(held(x).shape() == (Shape{2, 2}), boost::test_tools::per_element());
  BOOST_TEST(held.weights().size() == 2U);
  Lazy lazy;
  lazy(x);
  BOOST_TEST(lazy.weights().size() == 2U);
  By weightless([](By&, const Value& v) { return Dropout(0.5)(Activation("relu")(v)); });
  BOOST_TEST(weightless(x).tensor().equal(x));
}

BOOST_AUTO_TEST_CASE(calls_have_an_end) {
  By itself([](By& self, const Value& v) { return self(v); });
  BOOST_TEST(refused<ValueError>([&] { itself(x); }) ==
             "[By] calls of layers must not be nested deeper than 256; a layer calls itself");
  By twice([left = 3](By& self, const Value& v) mutable { return left-- > 0 ? self(v) : v; });
  BOOST_TEST(twice(x).tensor().equal(x));
  Sequential model({Dense(3)});
  BOOST_TEST(refused<ValueError>([&] { model.add(model); }) ==
             "[Sequential] a layer must not contain itself; got itself as a sub-layer");
  Sequential outer({model});
  BOOST_TEST(refused<ValueError>([&] { model.add(outer); }) ==
             "[Sequential] a layer must not contain itself; got a Sequential that contains it");
  BOOST_TEST(outer(x).shape() == (Shape{2, 3}), boost::test_tools::per_element());
  BOOST_TEST(model.weights().size() == 2U);
}

BOOST_AUTO_TEST_CASE(gradients_by_a_variable_that_a_layer_reads) {
  Dense dense(1, {.use_bias = false, .name = "fc"});
  dense(x);
  const Variable kernel = dense.weights().front();
  const std::string text =
      "[grad] the function must compute with its argument 0, the variable \"kernel\"; it also reads the variable "
      "itself, "
      "as a layer does, which would count as a constant: use the argument in its place, or value_and_grad(model, "
      "function), which has the gradients by the weights of a model";
  const auto by_layer = grad([&](const Value&) { return sum(dense(x)); });
  BOOST_TEST(refused<ValueError>([&] { by_layer(kernel); }) == text);
  const auto by_both = grad([&](const Value& w) { return sum(dense(x)) + sum(w * w); });
  BOOST_TEST(refused<ValueError>([&] { by_both(kernel); }) == text);
  kernel.assign(array({{1.0}, {2.0}, {3.0}}));
  const Tensor ones = Tensor({2, 3}) + 1;
  const auto by_argument = grad([&](const Value& w) { return sum(matmul(ones, w)); });
  BOOST_TEST(by_argument(kernel).tensor().to_doubles() == (std::vector<double>{2, 2, 2}));
  const auto stopped = grad([&](const Value& w) { return sum(stop_gradient(dense(ones))) + sum(w * w); });
  BOOST_TEST(stopped(kernel).tensor().to_doubles() == (std::vector<double>{2, 4, 6}));
  const auto unused = grad([](const Value&) { return Value(array(1.0)); });
  BOOST_TEST(refused<ValueError>([&] { unused(kernel); }) ==
             "[grad] the function must compute with its argument 0, the variable \"kernel\"; it doesn't");
}

BOOST_AUTO_TEST_SUITE_END()
