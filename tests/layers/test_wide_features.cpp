#include <boost/test/unit_test.hpp>

#include <cmath>

#include <mezzo/mezzo.hpp>

#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// Counts its calls in training.
class Counter : public Layer {
 public:
  explicit Counter(Policy dtype = {}, double first = 256) : Layer("Counter", Options{"", dtype}), first_(first) {}
  void build(const Shape&) override {
    add_weight(count, {.shape = {}, .initializer = Constant(first_), .trainable = false});
    add_weight(scale_, {.shape = {}, .initializer = "ones"});
  }
  Variable count{"count"};

 protected:
  Value call(const Value& x) override {
    update(count, count + 1);
    return x * scale_ + count * 0;
  }

 private:
  struct Options {
    std::string name;
    Policy dtype;
  };
  double first_;
  Variable scale_{"scale"};
};

Tensor years() {
  return Tensor({8, 1}, std::vector<double>{2000, 2001, 2002, 2003, 2004, 2005, 2006, 2007}).cast(DType::float32);
}

/// Outputs of a layer under a policy, as a Sequential, as a functional model and as a call.
std::vector<Tensor> outputs(const std::function<Any<Layer>()>& make, const Tensor& x, const Policy& policy) {
  std::vector<Tensor> out;
  Sequential model({make()}, {.dtype = policy});
  out.push_back(model.predict(x));
  const Value in = Input({x.shape()[1]});
  const Any<Layer> layer = make();
  out.push_back(Model(in, layer(in), {.dtype = policy}).predict(x));
  const auto region = autocast(policy);
  const Any<Layer> called = make();
  out.push_back(called(Value(x)).tensor());
  return out;
}

void require_exact(const std::function<Any<Layer>()>& make, const Tensor& x) {
  const Tensor expected = outputs(make, x, "float32")[0];
  for (const char* policy : {"bfloat16", "mixed_bfloat16", "float16", "mixed_float16"}) {
    for (const Tensor& y : outputs(make, x, policy)) {
      BOOST_TEST_CONTEXT(policy << " " << y.to_doubles()[1]) {
        const DType output = Policy(policy).output_dtype();  // predict() makes float32 of it
        BOOST_TEST(y.cast(DType::float32).equal(expected.cast(output).cast(DType::float32)));
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(wide_features)

BOOST_AUTO_TEST_CASE(normalization_does_not_round_features) {
  require_exact(
      [] {
        Normalization layer;
        layer.adapt(years());
        return Any<Layer>(layer);
      },
      years());
  require_exact(
      [] { return Any<Layer>(Normalization({.mean = Tensor::scalar(2003.5), .variance = Tensor::scalar(4)})); },
      years());
}

BOOST_AUTO_TEST_CASE(rescaling_does_not_round_features) {
  require_exact([] { return Any<Layer>(Rescaling({.scale = 0.5, .offset = -1000})); }, years());
  require_exact([] { return Any<Layer>(Rescaling(1e-5)); },
                Tensor({2, 1}, std::vector<double>{1e5, 2e5}).cast(DType::float32));
}

BOOST_AUTO_TEST_CASE(discretization_does_not_round_features) {
  require_exact(
      [] {
        return Any<Layer>(Discretization({.bin_boundaries = {2000.5, 2001.5, 2004.5}, .output_mode = "one_hot"}));
      },
      years());
}

BOOST_AUTO_TEST_CASE(normalizations_do_not_round_features) {
  const Tensor x =
      Tensor({2, 4}, std::vector<double>{2000, 2001, 2002, 2003, 2004, 2005, 2006, 2009}).cast(DType::float32);
  require_exact([] { return Any<Layer>(LayerNormalization()); }, x);
  require_exact([] { return Any<Layer>(RMSNormalization()); }, x);
  require_exact([] { return Any<Layer>(UnitNormalization()); }, x);
  require_exact([] { return Any<Layer>(GroupNormalization({.groups = 2})); }, x);
  require_exact([] { return Any<Layer>(BatchNormalization({.moving_mean_initializer = Constant(2003)})); }, x);
}

BOOST_AUTO_TEST_CASE(batch_statistics_are_those_of_the_features) {
  for (const char* policy : {"bfloat16", "mixed_bfloat16", "float16", "mixed_float16"}) {
    for (const bool functional : {false, true}) {
      const Value in = Input({1});
      BatchNormalization layer({.momentum = 0, .gamma_initializer = Constant(2)});
      Sequential list({layer}, {.dtype = policy});
      Model graph(in, layer(in), {.dtype = policy});
      Model& model = functional ? graph : list;
      model.compile({.optimizer = SGD({.learning_rate = 0}), .loss = "mse"});
      const double loss = model.train_on_batch(years(), Tensor({8, 1}))["loss"];
      BOOST_TEST(layer.weights()[2].value().item() == 2003.5);
      BOOST_TEST(loss == 4, boost::test_tools::tolerance(1e-2));
      BOOST_TEST((model(Value(years())).dtype() == Policy(policy).output_dtype()));
    }
  }
}

BOOST_AUTO_TEST_CASE(states_of_users_layers_count_on) {
  for (const char* policy : {"bfloat16", "float16", "mixed_bfloat16", "mixed_float16", "p=bf16,c=f32,o=bf16"}) {
    Counter counter(Policy(), 2048);
    const Value in = Input({1});
    Sequential model({Input({1}), counter}, {.dtype = policy});
    model.compile({.optimizer = SGD({.learning_rate = 0}), .loss = "mse"});
    for (int i = 0; i < 3; ++i) model.train_on_batch(Tensor({2, 1}), Tensor({2, 1}));
    BOOST_TEST(counter.count.value().item() == 2051);
    Model functional(in, counter(in), {.dtype = policy});
    functional.compile({.optimizer = SGD({.learning_rate = 0}), .loss = "mse"});
    for (int i = 0; i < 3; ++i) functional.train_on_batch(Tensor({2, 1}), Tensor({2, 1}));
    BOOST_TEST(counter.count.value().item() == 2054);
    BOOST_TEST((counter.count.dtype() == DType::float32));
    BOOST_TEST((counter.weights()[1].dtype() == Policy(policy).variable_dtype()));
    BOOST_TEST((model(Value(Tensor({2, 1}))).dtype() == Policy(policy).output_dtype()));
  }
  Counter own("bfloat16");
  Sequential model({Input({1}), own});
  BOOST_TEST((own.count.dtype() == DType::bfloat16));
}

BOOST_AUTO_TEST_CASE(crossentropy_of_a_16_bit_sigmoid_is_that_of_its_logits) {
  for (const char* policy : {"bfloat16", "mixed_float16"}) {
    for (const Any<Loss>& loss : {Any<Loss>(BinaryCrossentropy()), Any<Loss>(BinaryFocalCrossentropy({.gamma = 0}))}) {
      Sequential model({Dense({.units = 1, .activation = "sigmoid", .kernel_initializer = Constant(8)})},
                       {.dtype = policy});
      model.compile({.optimizer = SGD({.learning_rate = 0}), .loss = loss, .metrics = {BinaryCrossentropy()}});
      const auto logs = model.test_on_batch(Tensor::scalar(1).reshape({1, 1}), Tensor({1, 1}));
      BOOST_TEST(logs.at("loss") == 8, boost::test_tools::tolerance(1e-3));
      BOOST_TEST(logs.at("binary_crossentropy") == 8, boost::test_tools::tolerance(1e-3));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
