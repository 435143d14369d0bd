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

BOOST_AUTO_TEST_SUITE_END()
