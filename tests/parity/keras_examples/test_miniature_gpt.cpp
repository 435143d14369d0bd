// keras.io/examples/generative/text_generation_with_miniature_gpt: see miniature_gpt.py.
#include <boost/test/unit_test.hpp>

#include "parity/keras_examples/examples.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const std::int64_t vocab_size = 12, maxlen = 10, embed_dim = 8, num_heads = 2, feed_forward_dim = 16;

// Mask the upper half of the dot product matrix in self attention.
Value causal_attention_mask(std::int64_t n_dest, std::int64_t n_src, DType dtype) {
  const Value i = arange(n_dest)(all, newaxis);
  const Value j = arange(n_src);
  const Value m = i >= j - n_src + n_dest;
  const Value mask = cast(m, dtype);
  return reshape(mask, {1, n_dest, n_src});
}

// docs: begin
class TransformerBlock : public Layer {
 public:
  TransformerBlock(std::int64_t dim, std::int64_t heads, std::int64_t ff_dim, double rate = 0)
      : Layer("TransformerBlock"),
        att_(sub("att", layers::MultiHeadAttention(heads, dim))),
        ffn_(sub("ffn", Sequential({
                            layers::Dense(ff_dim, {.activation = "relu"}),
                            layers::Dense(dim),
                        }))),
        layernorm1_(sub("layernorm1", layers::LayerNormalization({.epsilon = 1e-6}))),
        layernorm2_(sub("layernorm2", layers::LayerNormalization({.epsilon = 1e-6}))),
        dropout1_(sub("dropout1", layers::Dropout(rate))),
        dropout2_(sub("dropout2", layers::Dropout(rate))) {}

 protected:
  Value call(const Value& inputs) override {
    const std::int64_t seq_len = inputs.shape()[1];
    const Value causal_mask = causal_attention_mask(seq_len, seq_len, DType::boolean);
    Value attention_output = att_(inputs, inputs, {.attention_mask = causal_mask});
    attention_output = dropout1_(attention_output);
    const Value out1 = layernorm1_(inputs + attention_output);
    Value ffn_output = ffn_(out1);
    ffn_output = dropout2_(ffn_output);
    return layernorm2_(out1 + ffn_output);
  }

 private:
  layers::MultiHeadAttention att_;
  Sequential ffn_;
  layers::LayerNormalization layernorm1_, layernorm2_;
  layers::Dropout dropout1_, dropout2_;
};
// docs: end

class TokenAndPositionEmbedding : public Layer {
 public:
  TokenAndPositionEmbedding(std::int64_t positions, std::int64_t words, std::int64_t dim)
      : Layer("TokenAndPositionEmbedding"),
        token_emb_(sub("token_emb", layers::Embedding(words, dim))),
        pos_emb_(sub("pos_emb", layers::Embedding(positions, dim))) {}

 protected:
  Value call(const Value& x) override {
    const Value positions = pos_emb_(arange(0, x.shape().back(), 1));
    return token_emb_(x) + positions;
  }

 private:
  layers::Embedding token_emb_, pos_emb_;
};

Model create_model() {
  const Input inputs({maxlen}, {.dtype = "int32"});
  TokenAndPositionEmbedding embedding_layer(maxlen, vocab_size, embed_dim);
  Value x = embedding_layer(inputs);
  TransformerBlock transformer_block(embed_dim, num_heads, feed_forward_dim);
  x = transformer_block(x);
  const Value outputs = layers::Dense(vocab_size)(x);
  Model model(inputs, {outputs, x});
  const SparseCategoricalCrossentropy loss_fn({.from_logits = true});
  model.compile({.optimizer = "adam", .loss = {loss_fn, {}}});  // No loss and optimization based on word embeddings
  return model;
}

class TextGenerator : public Callback {
 public:
  TextGenerator(std::int64_t max_tokens, std::vector<std::int32_t> start_tokens, std::vector<std::string> index_to_word,
                std::int64_t top_k = 10)
      : max_tokens_(max_tokens),
        start_tokens_(std::move(start_tokens)),
        index_to_word_(std::move(index_to_word)),
        k_(top_k) {}

  void on_epoch_end(int epoch, Logs&) override {
    std::vector<std::int32_t> start_tokens = start_tokens_;
    const Tensor numbers = uniform_numbers(50 + static_cast<std::uint32_t>(epoch), {max_tokens_ + 1}, 0, 1);
    for (std::int64_t i = 0; i <= max_tokens_; ++i) {
      std::vector<std::int32_t> x = start_tokens;
      const std::int64_t sample_index = std::min(static_cast<std::int64_t>(x.size()), maxlen) - 1;
      x.resize(maxlen, 0);
      const auto [y, embeddings] = model().predict_all(Tensor({1, maxlen}, x)).unpack<2>();
      start_tokens.push_back(sample_from(y(0, sample_index), numbers(i).item()));
    }
    texts.emplace_back();
    for (const std::int32_t token : start_tokens) texts.back() += (texts.back().empty() ? "" : " ") + detokenize(token);
  }

  std::vector<std::string> texts;

 private:
  std::int32_t sample_from(const Value& all_logits, double number) const {
    const auto [logits, indices] = top_k(all_logits, k_);
    const Value preds = softmax(logits);
    const auto place = static_cast<std::int64_t>(sum(cast(cumsum(preds) < number, DType::int32)).item());
    return static_cast<std::int32_t>(indices(place).item());
  }
  std::string detokenize(std::int32_t number) const { return index_to_word_[static_cast<std::size_t>(number)]; }

  std::int64_t max_tokens_;
  std::vector<std::int32_t> start_tokens_;
  std::vector<std::string> index_to_word_;
  std::int64_t k_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(miniature_gpt)

BOOST_AUTO_TEST_CASE(losses_and_texts_are_those_of_keras) {
  const std::vector<std::string> vocab{"",   "the", "a",   "film", "plot", "actor",
                                       "is", "was", "not", "very", "good", "bad"};
  // Sequences that count upwards, with an error here and there.
  const Shape shape{32, maxlen + 1};
  Value tokenized = mod(Value(random_integers(1, {32, 1}, vocab_size)) + arange(maxlen + 1), vocab_size);
  tokenized =
      where(Value(uniform_numbers(2, shape, 0, 1)) < 0.1, Value(random_integers(3, shape, vocab_size)), tokenized);
  const Tensor x = tokenized(all, slice(-1)), y = tokenized(all, slice(1, std::nullopt));
  TextGenerator text_gen_callback(12, {1, 2}, vocab, 3);
  Model model = create_model();
  auto expected = example("miniature_gpt");
  initialize(model, expected["shapes"]);
  check_history(
      model.fit(x, y, {.batch_size = 8, .epochs = 4, .verbose = 0, .callbacks = {text_gen_callback}, .shuffle = false}),
      expected["history"]);
  BOOST_TEST(text_gen_callback.texts == expected["texts"].get<std::vector<std::string>>(),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
