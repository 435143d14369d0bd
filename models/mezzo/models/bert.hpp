#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/layers/dense.hpp>
#include <mezzo/layers/dropout.hpp>
#include <mezzo/layers/embedding.hpp>
#include <mezzo/layers/layer_normalization.hpp>
#include <mezzo/training/model.hpp>

namespace mezzo {

/// Sizes and rates of a Bert, with Hugging Face's names and defaults (those of BERT base).
struct BertOptions {
  std::int64_t vocab_size = 30522;
  std::int64_t hidden_size = 768;
  std::int64_t num_hidden_layers = 12;
  std::int64_t num_attention_heads = 12;
  std::int64_t intermediate_size = 3072;
  std::int64_t max_position_embeddings = 512;
  std::int64_t type_vocab_size = 2;
  double hidden_dropout_prob = 0.1;
  double attention_probs_dropout_prob = 0.1;
  double layer_norm_eps = 1e-12;
  double initializer_range = 0.02;  ///< standard deviation of initial kernels and embeddings
  bool add_pooling_layer = true;
  bool pooled_only = false;  ///< pooler_output is the only output; the last layer computes what that needs
  std::string name{};
  Policy dtype{};
};

/// @name Sizes
/// As `Bert(bert_base())`; what else there is to say is passed: `Bert(minilm_l6({.hidden_dropout_prob = 0}))`.
/// @{
BertOptions bert_base(BertOptions rest = {});   ///< 12 layers of 768, 12 heads: 109,482,240 weights
BertOptions bert_large(BertOptions rest = {});  ///< 24 layers of 1024, 16 heads: 335,141,888 weights
/// 6 layers of 384, 12 heads: 22,713,216 weights. The size of sentence-transformers' all-MiniLM-L6-v2.
BertOptions minilm_l6(BertOptions rest = {});
/// @}

/// Encoder of text (Devlin et al., 2018, arXiv 1810.04805), with Hugging Face's structure, names and initial values.
/// Inputs, all integers: input_ids (batch, positions); attention_mask (batch, positions), 0 where there is padding, all
/// 1 if it isn't given; token_type_ids (batch, positions), 0 if not given. Outputs: last_hidden_state (batch,
/// positions, hidden_size) and, with the pooling layer, pooler_output (batch, hidden_size), a dense layer of the first
/// position. A ShapeError for more positions than max_position_embeddings, a ValueError for ids out of range when the
/// step runs. Layers: word_embeddings, position_embeddings, token_type_embeddings, embeddings_norm, layer0, layer1, ...
/// (attention, attention_norm, intermediate, output, output_norm), pooler.
class Bert : public Model {
 public:
  /// A ValueError for sizes below 1, unless the heads divide hidden_size, and for pooled_only without pooling layer.
  explicit Bert(BertOptions options = {});

  const BertOptions& options() const { return options_; }

 protected:
  Values call_many(const Values& xs) override;

 private:
  Value embed(const Value& ids, const Values& types);

  BertOptions options_;
  Embedding word_embeddings_, position_embeddings_, token_type_embeddings_;
  LayerNormalization embeddings_norm_;
  Dropout dropout_;
  std::vector<Any<Layer>> layers_;
  std::vector<Dense> pooler_;  // one or none
};

struct BertForSequenceClassificationOptions {
  BertOptions bert{};
  std::int64_t num_labels = 2;
  std::string name{};
  Policy dtype{};
};

/// A Bert, pooled_only, with a dropout and a Dense on its output: the inputs of Bert to logits (batch, num_labels).
/// Layers: bert, classifier.
class BertForSequenceClassification : public Model {
 public:
  /// A ValueError for num_labels below 1, or where Bert gives one.
  explicit BertForSequenceClassification(BertForSequenceClassificationOptions options = {});

  /// The encoder, to freeze it or to load its weights.
  Bert& bert() { return bert_; }

 protected:
  Values call_many(const Values& xs) override;

 private:
  BertForSequenceClassificationOptions options_;
  Bert bert_;
  Dropout dropout_;
  Dense classifier_;
};

}  // namespace mezzo
