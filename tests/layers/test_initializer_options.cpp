// Every initializer option of every layer fills its weight.
#include <mezzo/mezzo.hpp>

#include <boost/test/unit_test.hpp>

#include <map>

using namespace mezzo;

namespace {

/// Checks that each weight is filled with one number, the one given for its name.
void check_weights(Layer& layer, const Shape& input, const std::map<std::string, double>& expected) {
  layer.build(input);
  BOOST_TEST(layer.named_weights().size() == expected.size());
  for (const auto& [name, weight] : layer.named_weights()) {
    const Tensor numbers = weight.value();
    const std::vector<double> all(static_cast<std::size_t>(numbers.size()), expected.at(name));
    BOOST_TEST(numbers.to_doubles() == all, name);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(initializer_options)

BOOST_AUTO_TEST_CASE(dense_and_convolution) {
  Dense dense({.units = 2, .kernel_initializer = Constant(3), .bias_initializer = Constant(4)});
  check_weights(dense, {1, 5}, {{"kernel", 3}, {"bias", 4}});
  Conv2D conv({.filters = 2, .kernel_size = 3, .kernel_initializer = Constant(3), .bias_initializer = Constant(4)});
  check_weights(conv, {1, 8, 8, 3}, {{"kernel", 3}, {"bias", 4}});
}

BOOST_AUTO_TEST_CASE(embedding) {
  Embedding layer({.input_dim = 5, .output_dim = 2, .embeddings_initializer = Constant(3)});
  check_weights(layer, {1, 4}, {{"embeddings", 3}});
}

BOOST_AUTO_TEST_CASE(normalization) {
  BatchNormalization batch({.beta_initializer = Constant(2),
                            .gamma_initializer = Constant(3),
                            .moving_mean_initializer = Constant(4),
                            .moving_variance_initializer = Constant(5)});
  check_weights(batch, {1, 4}, {{"beta", 2}, {"gamma", 3}, {"moving_mean", 4}, {"moving_variance", 5}});
  LayerNormalization layer({.beta_initializer = Constant(2), .gamma_initializer = Constant(3)});
  check_weights(layer, {1, 4}, {{"beta", 2}, {"gamma", 3}});
}

BOOST_AUTO_TEST_CASE(attention) {
  MultiHeadAttention layer(
      {.num_heads = 2, .key_dim = 3, .kernel_initializer = Constant(3), .bias_initializer = Constant(4)});
  const Value x(Tensor({1, 4, 5}));
  layer(x, x);
  BOOST_TEST(layer.named_weights().size() == 8U);
  for (const auto& [name, weight] : layer.named_weights()) {
    const double expected = weight.name() == "kernel" ? 3 : 4;
    const Tensor numbers = weight.value();
    BOOST_TEST(numbers.to_doubles() == std::vector<double>(static_cast<std::size_t>(numbers.size()), expected), name);
  }
}

BOOST_AUTO_TEST_SUITE_END()
