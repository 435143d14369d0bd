#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "parity.hpp"
#include "small.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// Llama with the recorded weights.
Llama recorded_llama() {
  Llama model(small_llama());
  load_formula(recorded("models").at("llama"), model);
  return model;
}

Tensor ids(const Shape& shape) { return random_tensor(shape, DType::int64, 1, 0, 17); }

std::int64_t count_weights(const LlamaOptions& options) {
  const std::int64_t head = options.hidden_size / options.num_attention_heads;
  const std::int64_t attention =
      2 * options.hidden_size * head * (options.num_attention_heads + options.num_key_value_heads);
  const std::int64_t block = attention + 3 * options.hidden_size * options.intermediate_size + 2 * options.hidden_size;
  const std::int64_t tables = options.tie_word_embeddings ? 1 : 2;
  return options.num_hidden_layers * block + (tables * options.vocab_size + 1) * options.hidden_size;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(llama)

BOOST_AUTO_TEST_CASE(sizes_are_hugging_faces) {
  BOOST_TEST(count_weights(smollm_135m()) == 134'515'008);
  BOOST_TEST(count_weights(tinyllama_1_1b()) == 1'100'048'384);
  BOOST_TEST(count_weights(llama2_7b()) == 6'738'415'616);
  BOOST_TEST(count_weights(llama3_8b()) == 8'030'261'248);
  for (const bool tied : {false, true}) {
    LlamaOptions options = small_llama();
    options.tie_word_embeddings = tied;
    Llama model(options);
    model.build({1, 2});
    BOOST_TEST(model.count_params() == count_weights(options));
  }
}

BOOST_AUTO_TEST_CASE(generated_ids_are_those_of_hugging_face) {
  Llama model = recorded_llama();
  const nlohmann::json& expected = recorded("models").at("llama").at("generated");
  const Tensor prompt = recorded_ids(expected.at("prompt"));
  BOOST_TEST(model.generate(prompt, {.max_new_tokens = 9}).equal(recorded_ids(expected.at("greedy"))));
}

BOOST_AUTO_TEST_CASE(no_position_sees_a_later_one) {
  Llama model = recorded_llama();
  const Tensor x = ids({2, 7});
  const Tensor whole = model(x).tensor();
  for (std::int64_t count = 1; count < 7; ++count) {
    const Tensor part = model(slice(x, {.starts = {0, 0}, .sizes = {-1, count}})).tensor();
    BOOST_TEST(largest_difference(slice(whole, {.starts = {0, 0, 0}, .sizes = {-1, count, -1}}).tensor(), part) < 1e-5);
  }
}

BOOST_AUTO_TEST_CASE(it_is_called_on_symbols_and_cloned) {
  const Tensor x = ids({2, 7});
  Llama model(small_llama());
  const Tensor expected = model.predict(x);
  const Value input = Input({.shape = {7}, .dtype = DType::int64});
  BOOST_TEST(Model({.inputs = {input}, .outputs = {model(input)}}).predict(x).equal(expected));
  Llama copy = clone(model);
  for (const Variable& weight : model.weights()) weight.assign(Tensor(weight.shape()));
  BOOST_TEST(copy.predict(x).equal(expected));
}

BOOST_AUTO_TEST_CASE(bad_calls_are_refused) {
  BOOST_TEST(refused<ValueError>([] { Llama({.num_attention_heads = 5}); }) ==
             "[Llama] num_attention_heads must divide hidden_size; got 5 and 4096");
  BOOST_TEST(refused<ValueError>([] { Llama({.num_key_value_heads = 3}); }) ==
             "[Llama] num_key_value_heads must divide num_attention_heads; got 3 and 32");
  BOOST_TEST(refused<ValueError>([] { Llama({.hidden_size = 12, .num_attention_heads = 4}); }) ==
             "[Llama] hidden_size / num_attention_heads must be even, for rotary embeddings; got 12 / 4");
  Llama model(small_llama());
  BOOST_TEST(refused<ShapeError>([&] {
               model(Tensor({2, 13}, DType::int64));
             }) == "[Llama] input_ids may have at most 12 positions; got 13");
  BOOST_TEST(refused<ShapeError>([&] {
               model.generate(ids({1, 5}), {.max_new_tokens = 9});
             }) ==
             "[Llama] generate: positions and max_new_tokens may be max_position_embeddings + 1 = 13 together; got 5 + "
             "9");
}

BOOST_AUTO_TEST_CASE(a_sliding_window_hides_earlier_positions) {
  LlamaOptions options = small_llama();
  options.num_hidden_layers = 1;
  options.sliding_window = 3;
  seed_everything(1);
  Mistral model(options);
  const Tensor x = ids({1, 7});
  const auto last = [&](const Tensor& of) {
    const Value y = model(of);
    const std::int64_t count = of.shape()[1];
    return slice(y, {.starts = {0, count - 1, 0}, .sizes = {-1, 1, -1}}).tensor();
  };
  const Tensor whole = last(x);
  std::vector<std::int64_t> numbers(x.data<std::int64_t>(), x.data<std::int64_t>() + 7);
  numbers[3] = (numbers[3] + 1) % 17;  // before the window of the last position, which begins at 4
  BOOST_TEST(last(Tensor({1, 7}, numbers)).equal(whole));
  numbers[4] = (numbers[4] + 1) % 17;
  BOOST_TEST(largest_difference(last(Tensor({1, 7}, numbers)), whole) > 1e-6);
  BOOST_TEST((model.generate(ids({1, 2}), {.max_new_tokens = 2}).shape() == Shape{1, 4}));
  BOOST_TEST(refused<ShapeError>([&] {
               model.generate(ids({1, 2}), {.max_new_tokens = 3});
             }) ==
             "[Mistral] generate: positions and max_new_tokens may be sliding_window + 1 = 4 together; got 2 + 3");
}

BOOST_AUTO_TEST_CASE(biases_and_sizes_of_heads_are_those_of_the_options) {
  LlamaOptions options = small_llama();
  options.num_hidden_layers = 1;
  const auto weights = [&](auto change) {
    LlamaOptions changed = options;
    change(changed);
    Llama model(changed);
    model.build({1, 2});
    return model.count_params();
  };
  const std::int64_t plain = weights([](LlamaOptions&) {});
  BOOST_TEST(weights([](LlamaOptions& o) { o.qkv_bias = true; }) - plain == 24 + 12 + 12);
  BOOST_TEST(weights([](LlamaOptions& o) { o.attention_bias = true; }) - plain == 24 + 12 + 12 + 24);
  BOOST_TEST(weights([](LlamaOptions& o) { o.mlp_bias = true; }) - plain == 20 + 20 + 24);
  BOOST_TEST(weights([](LlamaOptions& o) { o.head_dim = 8; }) - plain == 24 * 2 * (4 + 2) * 2);
  Qwen2 qwen(options);
  qwen.build({1, 2});
  BOOST_TEST(qwen.count_params() - plain == 24 + 12 + 12);
}

BOOST_AUTO_TEST_CASE(bad_options_are_refused) {
  const auto text = [](const LlamaOptions& options) { return refused<Error>([&] { const Llama model(options); }); };
  BOOST_TEST(text({.head_dim = 5}) == "[Llama] head_dim must be even, for rotary embeddings; got 5");
  BOOST_TEST(text({.rope_scaling = {.rope_type = "yarn"}}) ==
             "[Llama] unknown rope_scaling.rope_type \"yarn\"; valid names: default, linear, llama3");
  BOOST_TEST(text({.rope_scaling = {.rope_type = "linear", .factor = 0}}) ==
             "[Llama] rope_scaling.factor must be above 0; got 0");
  BOOST_TEST(text({.hidden_act = "magic"}).rfind("[Llama] unknown hidden_act \"magic\"; valid names: gelu, ", 0) == 0U);
  BOOST_TEST(text({.sliding_window = -1}) == "[Llama] sliding_window must be at least 1; got -1");
}

BOOST_AUTO_TEST_SUITE_END()
