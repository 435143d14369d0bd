#include <boost/test/unit_test.hpp>

#include <memory>

#include <mezzo/graph/trace.hpp>
#include <mezzo/mezzo.hpp>

#include "support/refused.hpp"

using namespace mezzo;
using mezzo_tests::refused;

namespace {

struct ProbeOptions {
  std::string name{};
  Policy dtype{};
};

/// Stores the policy of its last call.
class Probe : public Layer {
 public:
  explicit Probe(ProbeOptions options = {}) : Layer("Probe", options) {}
  void build(const Shape& input) override { add_weight(weight_, {.shape = {input.back()}}); }
  const std::string& seen() const { return *seen_; }

 protected:
  Value call(const Value& x) override {
    *seen_ = dtype_policy().name();
    return x * weight_;
  }

 private:
  std::shared_ptr<std::string> seen_ = std::make_shared<std::string>();
  Variable weight_{"weight"};
};

/// Multiplies by a variable with or without autocast.
class Gain : public Layer {
 public:
  explicit Gain(bool autocast) : Layer("Gain", ProbeOptions{}), autocast_(autocast) {}
  void build(const Shape&) override { add_weight(gain_, {.shape = {}, .autocast = autocast_}); }

 protected:
  Value call(const Value& x) override { return x * gain_; }

 private:
  bool autocast_;
  Variable gain_{"gain"};
};

/// Sets the global policy and restores float32.
struct GlobalPolicy {
  explicit GlobalPolicy(const Policy& policy) { set_dtype_policy(policy); }
  ~GlobalPolicy() { set_dtype_policy({}); }
  GlobalPolicy(const GlobalPolicy&) = delete;
  GlobalPolicy& operator=(const GlobalPolicy&) = delete;
};

const Tensor x({2, 4});

}  // namespace

BOOST_AUTO_TEST_SUITE(layer_policies)

BOOST_AUTO_TEST_CASE(the_nearest_level_holds) {
  Probe inside, own({.dtype = "float32"});
  Sequential mixed({inside, Dense({.units = 2}), own}, {.dtype = "mixed_bfloat16"});
  BOOST_TEST((mixed(x).dtype() == DType::float32));
  BOOST_TEST(inside.seen() == "mixed_bfloat16");
  BOOST_TEST(own.seen() == "float32");
  BOOST_TEST((inside.compute_dtype() == DType::bfloat16));
  BOOST_TEST((inside.variable_dtype() == DType::float32));
  inside(x);  // outside of its container: the global policy
  BOOST_TEST(inside.seen() == "float32");
  BOOST_TEST((inside.compute_dtype() == DType::float32));
}

BOOST_AUTO_TEST_CASE(a_container_holds_for_outputs_and_weights) {
  Sequential mixed({Probe(), Dense({.units = 2})}, {.dtype = "mixed_bfloat16"});
  BOOST_TEST((mixed(x).dtype() == DType::bfloat16));
  BOOST_TEST((mixed.weights()[0].dtype() == DType::float32));
  Sequential pure({Dense({.units = 2}), BatchNormalization()}, {.dtype = "float16"});
  BOOST_TEST((pure(x).dtype() == DType::float16));
  BOOST_TEST((pure.weights()[0].dtype() == DType::float16));
  BOOST_TEST((pure.weights()[2].dtype() == DType::float32));  // gamma of the batch norm
}

// Keras' add_weight(autocast=False).
BOOST_AUTO_TEST_CASE(variables_are_cast_when_read_unless_they_are_exempt) {
  const auto result = [](bool autocast) {
    Sequential model({Gain(autocast)}, {.dtype = "mixed_bfloat16"});
    const DType dtype = model(x).dtype();
    BOOST_TEST((model.weights()[0].dtype() == DType::float32));
    return dtype;
  };
  BOOST_TEST((result(true) == DType::bfloat16));
  BOOST_TEST((result(false) == DType::float32));
}

BOOST_AUTO_TEST_CASE(a_layers_own_policy) {
  Dense layer({.units = 1, .dtype = "bfloat16"}), plain({.units = 1});
  layer.build({8, 4});
  BOOST_TEST((layer.compute_dtype() == DType::bfloat16));
  BOOST_TEST((layer.variable_dtype() == DType::bfloat16));
  BOOST_TEST((layer.weights()[0].dtype() == DType::bfloat16));
  BOOST_TEST(layer.dtype_policy().name() == "bfloat16");
  BOOST_TEST(plain.dtype_policy().name() == "float32");
}

BOOST_AUTO_TEST_CASE(the_global_policy_holds_where_nothing_else_does) {
  const GlobalPolicy global("float64");
  Probe inside, own({.dtype = "float32"});
  Sequential model({inside, own});
  model(x);
  BOOST_TEST(inside.seen() == "float64");
  BOOST_TEST(own.seen() == "float32");
  BOOST_TEST((inside.weights()[0].dtype() == DType::float64));
}

BOOST_AUTO_TEST_CASE(a_functional_model_takes_the_policy_of_the_call) {
  auto input = Input({.shape = {4}});
  Model low({.inputs = {input}, .outputs = {Dense({.units = 2})(input)}, .dtype = "mixed_bfloat16"});
  BOOST_TEST((low(x).dtype() == DType::bfloat16));
  Model plain({.inputs = {input},
               .outputs = {Dense({.units = 2, .name = "own", .dtype = "float32"})(
                   Dense({.units = 2, .name = "inside"})(input))}});
  Sequential outer({plain}, {.dtype = "mixed_float16"});
  BOOST_TEST((outer(x).dtype() == DType::float32));
  BOOST_TEST((plain.get_layer("inside").compute_dtype() == DType::float16));
  BOOST_TEST((plain.get_layer("own").compute_dtype() == DType::float32));
}

// jmp's policies have an output dtype. Outputs of a layer are cast to it, and the next layer casts to its compute
// dtype.
BOOST_AUTO_TEST_CASE(outputs_are_cast_where_they_leave_a_layer) {
  const Policy wide_output("p=f32,c=bf16,o=f32");
  BOOST_TEST((Dense({.units = 2, .dtype = wide_output})(x).dtype() == DType::float32));
  Probe inside;
  Sequential sequential({Dense({.units = 4}), inside}, {.dtype = wide_output});
  BOOST_TEST((sequential(x).dtype() == DType::float32));
  BOOST_TEST((inside.compute_dtype() == DType::bfloat16));
  auto input = Input({.shape = {4}});
  auto hidden = Dense({.units = 4, .name = "first"})(input);
  Model functional(
      {.inputs = {input}, .outputs = {Dense({.units = 2, .name = "second"})(hidden), hidden}, .dtype = wide_output});
  Trace trace(Trace::Mode::graph, false);
  const Values outputs = functional(Values{trace.input("x", Spec{x.shape(), x.dtype()})});
  for (const Value& output : outputs) BOOST_TEST((output.dtype() == DType::float32));
  int rounded = 0;
  for (const detail::NodePtr& node : trace.graph().nodes) {
    if (node->op->name == "matmul") rounded += node->inputs[0].dtype() == DType::bfloat16 ? 1 : 0;
  }
  BOOST_TEST(rounded == 2);
}

BOOST_AUTO_TEST_CASE(integers_and_bools_are_not_cast_at_a_border) {
  Sequential model({layers::Activation()}, {.dtype = "mixed_bfloat16"});
  BOOST_TEST((model(Tensor({2}, DType::int64)).dtype() == DType::int64));
  BOOST_TEST((model(Tensor({2}, DType::boolean)).dtype() == DType::boolean));
}

BOOST_AUTO_TEST_CASE(unknown_policies_are_refused_with_the_good_ones) {
  const std::string good =
      "; valid names: float32, mixed_bfloat16, mixed_float16, bfloat16, float16, float64, mixed_int8, or as "
      "p=f32,c=bf16,o=f32, or quantized as int8_from_float32";
  BOOST_TEST(refused<NameError>([] { Dense({.units = 1, .dtype = "bf16x"}); }) == "unknown policy \"bf16x\"" + good);
  BOOST_TEST(refused<NameError>([] { Sequential({Dense({.units = 1})}, {.dtype = "int8"}); }) ==
             "unknown policy \"int8\"" + good);
}

BOOST_AUTO_TEST_SUITE_END()
