// Results of layers with adapters, compared with Keras, with the effective kernel and with differences.
#include <boost/test/unit_test.hpp>

#include <cmath>

#include <mezzo/layers/core/reversible_embedding.hpp>
#include <mezzo/mezzo.hpp>

#include "layers/parity.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const LoraOptions options{.rank = 2, .alpha = 3, .b_initializer = "glorot_uniform"};

/// A layer that is built for such an input, with adapters.
template <class L>
Any<Layer> adapted(L layer, const Shape& input, std::int64_t rank, double alpha) {
  layer.build(input);
  layer.enable_lora(rank, {.alpha = alpha});
  return layer;
}

Tensor counting_from(double first, const Shape& shape) {
  Tensor out(shape, DType::float64);
  for (std::int64_t i = 0; i < out.size(); ++i) out.mutable_data<double>()[i] = std::sin(first + 0.7 * i);
  return out;
}

double total(Layer& layer, const Tensor& x, const Tensor& cotangent) {
  const std::vector<double> y = layer(Value(x)).tensor().to_doubles(), c = cotangent.to_doubles();
  double sum = 0;
  for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * c[i];
  return sum;
}

/// Compares the gradients of all trainable weights and of the input with central differences.
void check_gradients(Layer& layer, const Tensor& x, const std::string& trained) {
  const Tensor cotangent = counting_from(2, layer(Value(x)).tensor().shape());
  const LayerRun run = run_layer(layer, {x}, cotangent, false);
  std::string names;
  for (const auto& [name, weight] : layer.named_weights()) {
    if (!weight.trainable()) continue;
    names += (names.empty() ? "" : " ") + name;
    const std::vector<double> gradient = run.weight_gradients.at(name).to_doubles();
    const Tensor before = weight.value().copy();
    const auto total_at = [&, &moved_weight = weight](std::int64_t i, double step) {
      Tensor moved = before.copy();
      moved.mutable_data<double>()[i] += step;
      moved_weight.assign(moved);
      return total(layer, x, cotangent);
    };
    for (std::int64_t i = 0; i < before.size(); ++i) {
      const double difference = (total_at(i, 1e-5) - total_at(i, -1e-5)) / 2e-5;
      BOOST_TEST(std::abs(difference - gradient[static_cast<std::size_t>(i)]) < 1e-8, name << " " << i);
    }
    weight.assign(before);
  }
  BOOST_TEST(names == trained);
}

/// A layer's output with adapters, and that of one with the sum as its kernel.
template <class L>
double sum_off(L layer, const Tensor& x) {
  layer(Value(x));
  layer.enable_lora(options);
  const Tensor got = layer(Value(x)).tensor();
  merge_and_unload(layer);
  return largest_difference(got, layer(Value(x)).tensor());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lora)

BOOST_AUTO_TEST_CASE(layers_with_adapters_have_the_results_and_gradients_of_keras) {
  const auto check = [](const std::string& name, const std::function<Any<Layer>()>& make) {
    check_recorded(name, make, "lora", 1e-6);  // Keras has float32 adapters in float64 too
  };
  check("dense", [] { return adapted(Dense(3, {.activation = "tanh"}), {4, 5}, 2, 4); });
  check("dense_rank_4", [] { return adapted(Dense(4, {.use_bias = false}), {2, 1, 3, 5}, 3, 3); });
  check("einsum_dense", [] {
    return adapted(EinsumDense("abc,cd->abd", {-1, 4}, {.bias_axes = "d"}), {2, 3, 5}, 2, 1);
  });
  check("einsum_dense_heads", [] {
    return adapted(EinsumDense("abc,cde->abde", {-1, 2, 3}, {.bias_axes = "de"}), {2, 3, 5}, 2, 2);
  });
  check("einsum_dense_from_heads", [] { return adapted(EinsumDense("abcd,cde->abe", {-1, 4}), {2, 3, 2, 3}, 2, 2); });
  check("einsum_dense_sums_last", [] { return adapted(EinsumDense("abc,dc->abd", {-1, 4}), {2, 3, 5}, 2, 2); });
  check("einsum_dense_keeps_last", [] { return adapted(EinsumDense("abc,dc->adc", {4, 5}), {2, 3, 5}, 2, 2); });
  check("einsum_dense_ellipsis", [] { return adapted(EinsumDense("...x,xy->...y", {4}), {2, 3, 5}, 2, 2); });
  check("embedding", [] { return adapted(Embedding(7, 3), {4, 5}, 2, 4); });
}

BOOST_AUTO_TEST_CASE(gradients_of_adapters_are_those_of_differences) {
  const detail::PolicyScope policy{Policy("float64")};
  Dense dense({.units = 3});
  dense.build({2, 4});
  dense.enable_lora(options);
  check_gradients(dense, counting_from(1, {2, 4}), "bias lora_kernel_a lora_kernel_b");
  EinsumDense einsum("abc,cde->abde", {-1, 2, 3});
  einsum.build({2, 3, 4});
  einsum.enable_lora(2, {.use_rslora = true, .b_initializer = "glorot_uniform"});
  check_gradients(einsum, counting_from(1, {2, 3, 4}), "lora_kernel_a lora_kernel_b");
  Embedding table(5, 3);
  table.build({2, 2});
  table.enable_lora(options);
  check_gradients(table, Tensor({2, 2}, std::vector<std::int64_t>{0, 3, 4, 3}), "lora_embeddings_a lora_embeddings_b");
}

BOOST_AUTO_TEST_CASE(the_input_gradient_flows_through_kernel_and_adapters) {
  const detail::PolicyScope policy{Policy("float64")};
  Dense layer({.units = 3});
  layer.build({2, 4});
  layer.enable_lora(options);
  const Tensor x = counting_from(1, {2, 4}), cotangent = counting_from(2, {2, 3});
  const std::vector<double> gradient = run_layer(layer, {x}, cotangent, false).input_gradients[0].to_doubles();
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const auto at = [&](double step) {
      Tensor moved = x.copy();
      moved.mutable_data<double>()[i] += step;
      return total(layer, moved, cotangent);
    };
    BOOST_TEST(std::abs((at(1e-5) - at(-1e-5)) / 2e-5 - gradient[static_cast<std::size_t>(i)]) < 1e-8);
  }
}

BOOST_AUTO_TEST_CASE(the_sum_as_kernel_gives_the_same) {
  const detail::PolicyScope policy{Policy("float64")};
  const Tensor x = counting_from(1, {2, 3, 4}), heads = counting_from(1, {2, 3, 2, 2});
  BOOST_TEST(sum_off(Dense({.units = 3}), x) < 1e-13);
  BOOST_TEST(sum_off(EinsumDense("abc,cd->abd", {-1, 5}), x) < 1e-13);
  BOOST_TEST(sum_off(EinsumDense("abc,cde->abde", {-1, 2, 3}), x) < 1e-13);
  BOOST_TEST(sum_off(EinsumDense("abcd,cde->abe", {-1, 3}), heads) < 1e-13);
  BOOST_TEST(sum_off(EinsumDense("abc,dc->abd", {-1, 5}), x) < 1e-13);
  BOOST_TEST(sum_off(EinsumDense("abc,dc->adc", {5, 4}), x) < 1e-13);
  BOOST_TEST(sum_off(EinsumDense("ab...,bc->ac...", {5}), x) < 1e-13);
  BOOST_TEST(sum_off(Embedding(5, 3), Tensor({2, 2}, std::vector<std::int64_t>{0, 3, 4, 3})) < 1e-13);
}

BOOST_AUTO_TEST_CASE(attention_has_adapters_in_its_projections) {
  const detail::PolicyScope policy{Policy("float64")};
  const Value x(counting_from(1, {2, 3, 4}));
  MultiHeadAttention layer({.num_heads = 2, .key_dim = 3});
  layer(x, x);
  layer.enable_lora({.targets = "query|value|output", .rank = 2, .b_initializer = "glorot_uniform"});
  BOOST_TEST(layer.trainable_weights().size() == 6U);
  const Tensor got = layer(x, x).tensor();
  {
    const DisableAdapters base(layer);
    BOOST_TEST(largest_difference(got, layer(x, x).tensor()) > 1e-3);
  }
  merge_and_unload(layer);
  BOOST_TEST(largest_difference(got, layer(x, x).tensor()) < 1e-13);
}

BOOST_AUTO_TEST_CASE(a_reversible_embedding_adapts_both_directions) {
  const detail::PolicyScope policy{Policy("float64")};
  const Value ids(Tensor({2, 2}, std::vector<std::int64_t>{0, 3, 4, 3})), states(counting_from(1, {2, 2, 3}));
  ReversibleEmbedding layer({.input_dim = 5, .output_dim = 3});
  layer(ids);
  layer.enable_lora(options);
  const Tensor rows = layer(ids).tensor(), scores = layer(states, {.reverse = true}).tensor();
  merge_and_unload(layer);
  BOOST_TEST(largest_difference(rows, layer(ids).tensor()) < 1e-13);
  BOOST_TEST(largest_difference(scores, layer(states, {.reverse = true}).tensor()) < 1e-13);
}

BOOST_AUTO_TEST_CASE(adapters_are_float32_under_every_16_bit_policy) {
  for (const char* name : {"float32", "mixed_bfloat16", "mixed_float16", "bfloat16", "float16"}) {
    const detail::PolicyScope policy{Policy(name)};
    Dense layer({.units = 3});
    const Value x(counting_from(1, {2, 4}).cast(DType::float32));
    layer(x);
    layer.enable_lora(options);
    BOOST_TEST((layer.named_weights().back().second.dtype() == DType::float32), name);
    const Tensor got = layer(x).tensor();
    BOOST_TEST((got.dtype() == Policy(name).compute_dtype()), name);
    merge_and_unload(layer);
    BOOST_TEST(largest_difference(got, layer(x).tensor()) < 0.05, name);
  }
}

BOOST_AUTO_TEST_CASE(dropout_drops_inputs_of_the_adapter_in_training_only) {
  Dense layer({.units = 2, .use_bias = false});
  layer.build({1, 64});
  layer.enable_lora(1, {.dropout = 0.5, .a_initializer = "ones", .b_initializer = "ones"});
  const Tensor x = Value(counting_from(1, {1, 64})).tensor().cast(DType::float32);
  const Tensor once = layer(Value(x)).tensor();
  BOOST_TEST(layer(Value(x), {.training = false}).tensor().equal(once));
  const LayerRun run = run_layer(layer, {x}, Tensor({1, 2}, std::vector<float>{1, 1}), true);
  BOOST_TEST(!run.output.equal(once));
}

BOOST_AUTO_TEST_SUITE_END()
