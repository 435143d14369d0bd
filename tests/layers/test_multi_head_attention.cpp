#include <mezzo/layers/attention/grouped_query_attention.hpp>
#include <mezzo/layers/attention/multi_head_attention.hpp>
#include <mezzo/ops/scaled_dot_product_attention.hpp>

#include "parity.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// Calls attention as the recording script does.
class Attend : public Layer {
 public:
  Attend(MultiHeadAttentionOptions options, AttentionCallOptions call)
      : Layer("Attend"), attention_(sub("attention", MultiHeadAttention(std::move(options)))), call_(std::move(call)) {}
  void build(const Shape&) override {}

 protected:
  Values call_many(const Values& xs) override {
    AttentionCallOptions call = call_;
    if (xs.size() > 2) call.key = xs[2];
    return {attention_(xs[0], xs[1], call)};
  }

 private:
  MultiHeadAttention attention_;
  AttentionCallOptions call_;
};

void check_attention(const std::string& name, const MultiHeadAttentionOptions& options, bool causal = false) {
  const nlohmann::json& expected = recorded("attention").at(name);
  AttentionCallOptions call{.use_causal_mask = causal};
  if (expected.contains("mask")) call.attention_mask = recorded_tensor(expected.at("mask")).cast(DType::boolean);
  BOOST_TEST_CONTEXT(name) check_layer(expected, [&] { return Attend(options, call); });
}

Value attend(MultiHeadAttention layer, const Shape& query, const Shape& value) {
  return layer(Tensor(query), Tensor(value));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(multi_head_attention)

BOOST_AUTO_TEST_CASE(equals_keras) {
  check_attention("self", {.num_heads = 2, .key_dim = 3});
  check_attention("causal", {.num_heads = 3, .key_dim = 2}, true);
  check_attention("value_of_another_size", {.num_heads = 2, .key_dim = 3, .value_dim = 4, .output_shape = 6});
  check_attention("key_and_mask_without_bias", {.num_heads = 2, .key_dim = 3, .use_bias = false});
  check_attention("mask_per_head", {.num_heads = 2, .key_dim = 3});
}

BOOST_AUTO_TEST_CASE(drops_weights_in_training) {
  MultiHeadAttention layer({.num_heads = 2, .key_dim = 4, .dropout = 0.5});
  const Tensor x = random_tensor({2, 9, 8});
  const auto run = [&](bool training) {
    Trace trace(Trace::Mode::eager, training);
    const Value input = trace.input("x", x);
    return layer(input, input).tensor();
  };
  BOOST_TEST(run(false).equal(run(false)));
  BOOST_TEST(run(true).equal(run(true)));
  BOOST_TEST(!run(true).equal(run(false)));
}

BOOST_AUTO_TEST_CASE(copies_share_weights) {
  MultiHeadAttention layer({.num_heads = 2, .key_dim = 4});
  MultiHeadAttention copy = layer;
  const Value x = random_tensor({2, 3, 8});
  BOOST_TEST(layer(x, x).tensor().equal(copy(x, x).tensor()));
  BOOST_TEST(layer.named_weights().size() == 8U);
}

BOOST_AUTO_TEST_CASE(computes_in_the_policys_dtype) {
  for (const char* name : {"mixed_bfloat16", "mixed_float16", "float64"}) {
    const Policy policy(name);
    MultiHeadAttention layer({.num_heads = 2, .key_dim = 4, .dtype = policy});
    const Value x = Tensor({2, 3, 8});
    BOOST_TEST((layer(x, x).dtype() == policy.compute_dtype()));
    for (const Variable& weight : layer.weights()) BOOST_TEST((weight.dtype() == policy.variable_dtype()));
  }
}

// Sums over 4096 equal weights whose second half has a value of 1. In bfloat16 they would stop at 256.
BOOST_AUTO_TEST_CASE(its_softmax_adds_up_in_float32) {
  std::vector<float> numbers(4096, 0);
  std::fill(numbers.begin() + 2048, numbers.end(), 1.0F);
  for (const DType dtype : {DType::bfloat16, DType::float16}) {
    const Value query = Tensor({1, 1, 1, 1}, dtype), key = Tensor({1, 4096, 1, 1}, dtype);
    const Value value = Tensor({1, 4096, 1, 1}, numbers).cast(dtype);
    BOOST_TEST(dot_product_attention(query, key, value).item() == 0.5, dtype_name(dtype));
  }
}

BOOST_AUTO_TEST_CASE(axes_may_be_empty) {
  for (const Shape& shape : {Shape{2, 3, 0}, Shape{0, 3, 4}}) {
    const Tensor x(shape);
    BOOST_TEST(MultiHeadAttention(2, 4)(Value(x), Value(x)).shape() == shape);
    BOOST_TEST(
        GroupedQueryAttention({.head_dim = 4, .num_query_heads = 2, .num_key_value_heads = 1})(Value(x), Value(x))
            .shape() == shape);
  }
}

BOOST_AUTO_TEST_CASE(bad_calls_are_refused) {
  BOOST_TEST(refused<ValueError>([] { MultiHeadAttention({.key_dim = 3}); }) ==
             "[MultiHeadAttention] num_heads must be at least 1; got 0");
  BOOST_TEST(refused<ValueError>([] { MultiHeadAttention({.num_heads = 3}); }) ==
             "[MultiHeadAttention] key_dim must be at least 1; got 0");
  BOOST_TEST(refused<ValueError>([] { MultiHeadAttention({.num_heads = 3, .key_dim = 1, .dropout = 1}); }) ==
             "[MultiHeadAttention] dropout must lie in [0, 1); got 1");
  const MultiHeadAttention layer({.num_heads = 2, .key_dim = 3, .name = "attention"});
  BOOST_TEST(refused<ShapeError>([&] {
               attend(layer, {3, 5}, {3, 5});
             }) ==
             "[MultiHeadAttention \"attention\"] input must have rank 3 (batch, positions, size); got shape (3, 5): "
             "add a batch axis if this is one sample");
  attend(layer, {1, 3, 5}, {1, 3, 5});
  BOOST_TEST(refused<ShapeError>([&] {
               attend(layer, {1, 3, 6}, {1, 3, 5});
             }) == "[EinsumDense \"query\"] input axis -1 must be 5 (first axis of kernel); got shape (1, 3, 6)");
  BOOST_TEST(
      refused<ShapeError>([&] {
        attend(layer, {2, 3, 5}, {1, 3, 5});
      }) == "[MultiHeadAttention \"attention\"] input 1 axis 0 must be 2 (batch of the query); got shape (1, 3, 2, 3)");
}

BOOST_AUTO_TEST_SUITE_END()
