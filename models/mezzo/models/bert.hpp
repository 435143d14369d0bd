#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/layers/core/dense.hpp>
#include <mezzo/layers/core/embedding.hpp>
#include <mezzo/layers/normalization/layer_normalization.hpp>
#include <mezzo/layers/regularization/dropout.hpp>
#include <mezzo/training/model/model.hpp>

namespace mezzo {

/// Sizes and rates of a Bert, with Hugging Face's names and the defaults of BERT base. All sizes are at least 1.
struct BertOptions {
  std::int64_t vocab_size = 30522;             ///< number of token ids
  std::int64_t hidden_size = 768;              ///< size of hidden states
  std::int64_t num_hidden_layers = 12;         ///< number of transformer layers
  std::int64_t num_attention_heads = 12;       ///< number of heads; divides hidden_size
  std::int64_t intermediate_size = 3072;       ///< size of the hidden layer between the two dense layers
  std::string hidden_act = "gelu";             ///< activation between them, by Hugging Face's name: "gelu", "gelu_new",
                                               ///< "relu", "silu", ...
  std::int64_t max_position_embeddings = 512;  ///< largest number of positions
  std::int64_t type_vocab_size = 2;            ///< number of token types
  double hidden_dropout_prob = 0.1;            ///< dropout rate of hidden states, in [0, 1)
  double attention_probs_dropout_prob = 0.1;   ///< dropout rate of attention weights, in [0, 1)
  double layer_norm_eps = 1e-12;               ///< epsilon of layer normalizations, at least 0
  double initializer_range = 0.02;             ///< standard deviation of initial kernels and embeddings, at least 0
  bool add_pooling_layer = true;               ///< true: adds the output pooler_output
  bool pooled_only = false;  ///< true: pooler_output is the only output, and the last layer computes one position only
  std::string name{};        ///< name of the model; "": automatic
  Policy dtype{};            ///< precision policy; default: the policy of the Trainer or the global one
};

/// @name Sizes
/// Used as `Bert(bert_base())`. Other options are passed on: `Bert(minilm_l6({.hidden_dropout_prob = 0}))`.
/// @{
MEZZO_API BertOptions bert_base(BertOptions rest = {});   ///< 12 layers of 768, 12 heads: 109,482,240 weights
MEZZO_API BertOptions bert_large(BertOptions rest = {});  ///< 24 layers of 1024, 16 heads: 335,141,888 weights
/// 6 layers of 384, 12 heads: 22,713,216 weights; the size of sentence-transformers' all-MiniLM-L6-v2
MEZZO_API BertOptions minilm_l6(BertOptions rest = {});
/// @}

/// BERT, an encoder of text (Devlin et al., 2018, arXiv 1810.04805), with Hugging Face's structure, names and initial
/// values.
///
/// Inputs, all integers: input_ids (batch, positions); attention_mask (batch, positions), 0 at padding, by default all
/// 1; token_type_ids (batch, positions), by default all 0.
///
/// Outputs: last_hidden_state (batch, positions, hidden_size) and, with the pooling layer, pooler_output (batch,
/// hidden_size), a dense layer on the first position.
///
/// A ShapeError for more than max_position_embeddings positions, a ValueError for ids out of range when the step runs.
///
/// Layers: word_embeddings, position_embeddings, token_type_embeddings, embeddings_norm, layer0, layer1, ...
/// (attention, attention_norm, intermediate, output, output_norm), pooler.
class MEZZO_API Bert : public Model {
 public:
  /// A ValueError for a size below 1, if the heads don't divide hidden_size, or for pooled_only without pooling layer;
  /// a NameError for an unknown hidden_act.
  explicit Bert(BertOptions options = {});

  /// Options given to the constructor.
  const BertOptions& options() const { return options_; }

 protected:
  /// For a class with other positions, whose weight files may have another prefix.
  Bert(const char* kind, BertOptions options, const std::string& optional_prefix);

  /// Indices of position embeddings of input_ids (batch, positions): (positions,) or (batch, positions).
  virtual Value position_indices(const Value& ids) const;

  Values call_many(const Values& xs) override;

 private:
  Value embed(const Value& ids, const Values& types);

  BertOptions options_;
  Embedding word_embeddings_, position_embeddings_, token_type_embeddings_;
  LayerNormalization embeddings_norm_;
  Dropout dropout_;
  std::vector<Any<Layer>> layers_;
  std::vector<Dense> pooler_;  // empty without the pooling layer
};

struct BertForSequenceClassificationOptions {
  BertOptions bert{};                          ///< options of the encoder; pooled_only is set by all_positions
  std::int64_t num_labels = 2;                 ///< number of classes, at least 1
  std::optional<double> classifier_dropout{};  ///< dropout rate before the last layer, in [0, 1); default:
                                               ///< hidden_dropout_prob of the encoder
  bool all_positions = false;  ///< true: the last layer computes every position, though only the first one is read
  std::string name{};          ///< name of the model; "": automatic
  Policy dtype{};              ///< precision policy; default: the policy of the Trainer or the global one
};

/// Bert with a dropout and a dense layer on its pooled output. Inputs as for Bert; output: logits (batch, num_labels).
/// Layers: bert, classifier.
class MEZZO_API BertForSequenceClassification : public Model {
 public:
  /// A ValueError for num_labels below 1, or as by Bert.
  explicit BertForSequenceClassification(BertForSequenceClassificationOptions options = {});

  /// Options given to the constructor.
  const BertForSequenceClassificationOptions& options() const { return options_; }

  /// Encoder, to freeze it or to load its weights.
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
