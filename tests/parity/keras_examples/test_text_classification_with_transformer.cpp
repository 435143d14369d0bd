// keras.io/examples/nlp/text_classification_with_transformer: see text_classification_with_transformer.py.
#include <boost/test/unit_test.hpp>

#include "parity/keras_examples/examples.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// docs: begin
class TransformerBlock : public Layer {
 public:
  TransformerBlock(std::int64_t embed_dim, std::int64_t num_heads, std::int64_t ff_dim, double rate = 0.0)
      : Layer("TransformerBlock"),
        att_(sub("att", layers::MultiHeadAttention({.num_heads = num_heads, .key_dim = embed_dim}))),
        ffn_(sub("ffn", Sequential({layers::Dense(ff_dim, {.activation = "relu"}), layers::Dense(embed_dim)}))),
        dropout1_(sub("dropout1", layers::Dropout(rate))),
        dropout2_(sub("dropout2", layers::Dropout(rate))) {}

 private:
  Value call(const Value& inputs) override {
    Value attn_output = att_(inputs, inputs);
    attn_output = dropout1_(attn_output);
    const Value out1 = layernorm1_(inputs + attn_output);
    Value ffn_output = ffn_(out1);
    ffn_output = dropout2_(ffn_output);
    return layernorm2_(out1 + ffn_output);
  }

  layers::MultiHeadAttention att_;
  Sequential ffn_;
  layers::LayerNormalization layernorm1_ = sub("layernorm1", layers::LayerNormalization({.epsilon = 1e-6}));
  layers::LayerNormalization layernorm2_ = sub("layernorm2", layers::LayerNormalization({.epsilon = 1e-6}));
  layers::Dropout dropout1_, dropout2_;
};
// docs: end

class TokensAndPositions : public Layer {
 public:
  TokensAndPositions(std::int64_t maxlen, std::int64_t vocab_size, std::int64_t embed_dim)
      : Layer("TokensAndPositions"),
        token_emb_(sub("token_emb", layers::Embedding({.input_dim = vocab_size, .output_dim = embed_dim}))),
        pos_emb_(sub("pos_emb", layers::Embedding({.input_dim = maxlen, .output_dim = embed_dim}))) {}

 private:
  Value call(const Value& x) override {
    Value positions = arange(0, x.shape().back(), 1);
    positions = pos_emb_(positions);
    return token_emb_(x) + positions;
  }

  layers::Embedding token_emb_, pos_emb_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(text_classification_with_transformer)

BOOST_AUTO_TEST_CASE(losses_are_those_of_keras) {
  const std::int32_t vocab_size = 60;  // Only consider the top 60 words
  const std::int64_t maxlen = 10;      // Only consider the first 10 words of each movie review
  const auto [train_lists, y_train] = rated_words(32, vocab_size);
  const auto [val_lists, y_val] = rated_words(16, vocab_size, 60);
  const Tensor x_train = pad_sequences(train_lists, {.maxlen = maxlen});
  const Tensor x_val = pad_sequences(val_lists, {.maxlen = maxlen});

  const std::int64_t embed_dim = 12;  // Embedding size for each token
  const std::int64_t num_heads = 2;   // Number of attention heads
  const std::int64_t ff_dim = 16;     // Hidden layer size in feed forward network inside transformer
  // docs: begin
  const Input inputs({maxlen});
  TokensAndPositions embedding_layer(maxlen, vocab_size, embed_dim);
  Value x = embedding_layer(inputs);
  TransformerBlock transformer_block(embed_dim, num_heads, ff_dim);
  x = transformer_block(x);
  x = layers::GlobalAveragePooling1D()(x);
  x = layers::Dropout(0.0)(x);
  x = layers::Dense(8, {.activation = "relu"})(x);
  x = layers::Dropout(0.0)(x);
  const Value outputs = layers::Dense(2, {.activation = "softmax"})(x);

  Model model({.inputs = {inputs}, .outputs = {outputs}});
  // docs: end
  auto expected = example("text_classification_with_transformer");
  initialize(model, expected["shapes"]);
  // docs: begin
  model.compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  const History history =
      model.fit(x_train, y_train,
                {.batch_size = 8, .epochs = 3, .verbose = 0, .validation_data = {x_val, y_val}, .shuffle = false});
  // docs: end
  check_history(history, expected["history"]);
}

BOOST_AUTO_TEST_SUITE_END()
