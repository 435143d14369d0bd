#include <mezzo/layers/core/embedding.hpp>

#include <mezzo/mezzo.hpp>

#include "parity.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Tensor tokens(std::int32_t last = 4) { return {{2, 2}, std::vector<std::int32_t>{0, 3, 1, last}}; }

}  // namespace

BOOST_AUTO_TEST_SUITE(embedding)

BOOST_AUTO_TEST_CASE(equals_keras) {
  check_recorded("embedding", [] { return Embedding({.input_dim = 7, .output_dim = 3}); });
}

BOOST_AUTO_TEST_CASE(starts_uniform_as_kerass) {
  Embedding layer({.input_dim = 50, .output_dim = 40});
  layer.build({1, 3});
  const Tensor table = layer.weights()[0].value();
  BOOST_TEST((table.shape() == Shape{50, 40}));
  const std::vector<double> numbers = table.to_doubles();
  const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
  BOOST_TEST(*low >= -0.05);
  BOOST_TEST(*low < -0.045);
  BOOST_TEST(*high < 0.05);
  BOOST_TEST(*high > 0.045);
}

BOOST_AUTO_TEST_CASE(takes_floats_as_keras_does) {
  Embedding layer({.input_dim = 5, .output_dim = 2, .dtype = "mixed_bfloat16"});
  BOOST_TEST(layer(Value(tokens().cast(DType::float32))).tensor().equal(layer(Value(tokens())).tensor()));
}

BOOST_AUTO_TEST_CASE(takes_floats_above_the_range_of_int16) {
  Embedding layer({.input_dim = 70'000, .output_dim = 1});
  const Tensor ids({1, 4}, std::vector<std::int32_t>{32'767, 32'768, 65'536, 69'999});
  const Value expected = layer(Value(ids));
  for (const DType dtype : {DType::float32, DType::float64}) {
    BOOST_TEST(layer(Value(ids.cast(dtype))).tensor().equal(expected.tensor()));
  }
}

BOOST_AUTO_TEST_CASE(gives_the_compute_dtype_and_casts_rows_alone) {
  for (const char* name : {"float32", "mixed_bfloat16", "mixed_float16", "bfloat16", "float64"}) {
    BOOST_TEST_CONTEXT(name) {
      const Policy policy(name);
      Embedding layer({.input_dim = 5, .output_dim = 2, .dtype = policy});
      const Value eager = layer(Value(tokens()));
      BOOST_TEST((eager.dtype() == policy.compute_dtype()));
      Trace trace(Trace::Mode::graph, true);
      BOOST_TEST((layer(trace.input("x", Spec{{2, 2}, DType::int32})).dtype() == policy.compute_dtype()));
      for (const detail::NodePtr& node : trace.graph().nodes) {
        if (node->op->name == "cast") BOOST_TEST((node->inputs[0].shape() == Shape{2, 2, 2}));
        if (node->op->name == "gather") BOOST_TEST((node->inputs[0].dtype() == policy.variable_dtype()));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(gradients_are_float32_under_mixed_policies) {
  Embedding layer({.input_dim = 5, .output_dim = 2, .dtype = "mixed_bfloat16"});
  layer.build({2, 2});
  const LayerRun run =
      run_layer(layer, {tokens(0)}, Tensor({2, 2, 2}, std::vector<float>(8, 1)).cast(DType::bfloat16), true);
  const Tensor& gradient = run.weight_gradients.at("embeddings");
  BOOST_TEST((gradient.dtype() == DType::float32));
  BOOST_TEST(gradient.to_doubles() == (std::vector<double>{2, 2, 1, 1, 0, 0, 1, 1, 0, 0}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(in_a_functional_graph_follows_the_policy_of_the_call) {
  const Input x({.shape = {2}, .dtype = DType::int32});
  Model model({.inputs = {x}, .outputs = {Embedding({.input_dim = 5, .output_dim = 2})(x)}});
  BOOST_TEST((model(Value(tokens())).shape() == Shape{2, 2, 2}));
  BOOST_TEST((model(Value(tokens())).dtype() == DType::float32));
  const detail::PolicyScope policy(Policy("mixed_bfloat16"));
  BOOST_TEST((model(Value(tokens())).dtype() == DType::bfloat16));
}

BOOST_AUTO_TEST_CASE(bad_calls_are_refused) {
  BOOST_TEST(refused<ValueError>([] { Embedding({.output_dim = 2}); }) ==
             "[Embedding] input_dim must be at least 1; got 0");
  BOOST_TEST(refused<ValueError>([] { Embedding({.input_dim = 2}); }) ==
             "[Embedding] output_dim must be at least 1; got 0");
  Embedding layer({.input_dim = 5, .output_dim = 2, .name = "tokens"});
  BOOST_TEST(refused<ValueError>([&] { layer(Value(tokens(5))); }) ==
             "[Embedding \"tokens\"] indices must be in [0, 5); got 5 at index 3");
  BOOST_TEST(refused<ValueError>([&] { layer(Value(tokens(-1))); }) ==
             "[Embedding \"tokens\"] indices must be in [0, 5); got -1 at index 3");
}

BOOST_AUTO_TEST_SUITE_END()
