#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/layers/core/dense.hpp>
#include <mezzo/layers/core/embedding.hpp>
#include <mezzo/layers/normalization/layer_normalization.hpp>
#include <mezzo/layers/regularization/dropout.hpp>
#include <mezzo/training/model/model.hpp>

namespace mezzo {

/// Sizes and rates of a DistilBert, with Hugging Face's names and the defaults of distilbert-base. All sizes are at
/// least 1.
struct DistilBertOptions {
  std::int64_t vocab_size = 30522;             ///< number of token ids
  std::int64_t max_position_embeddings = 512;  ///< largest number of positions
  std::int64_t n_layers = 6;                   ///< number of transformer layers
  std::int64_t n_heads = 12;                   ///< number of heads; divides dim
  std::int64_t dim = 768;                      ///< size of hidden states
  std::int64_t hidden_dim = 3072;              ///< size of the hidden layer between the two dense layers
  std::string activation = "gelu";             ///< activation between them, as BertOptions::hidden_act
  double dropout = 0.1;                        ///< dropout rate of hidden states, in [0, 1)
  double attention_dropout = 0.1;              ///< dropout rate of attention weights, in [0, 1)
  double initializer_range = 0.02;             ///< standard deviation of initial kernels and embeddings, at least 0
  std::string name{};                          ///< name of the model; "": automatic
  Policy dtype{};  ///< precision policy; default: the policy of the Trainer or the global one
};

/// DistilBERT, an encoder of text (Sanh et al., 2019, arXiv 1910.01108), with Hugging Face's structure, names and
/// initial values; 66,362,880 weights by default. Inputs, integers: input_ids (batch, positions); attention_mask
/// (batch, positions), 0 at padding, by default all 1. Output: last_hidden_state (batch, positions, dim). A ShapeError
/// for more than max_position_embeddings positions, a ValueError for ids out of range when the step runs.
///
/// Layers: word_embeddings, position_embeddings, embeddings_norm, layer0, layer1, ... (attention, attention_norm,
/// intermediate, output, output_norm).
class MEZZO_API DistilBert : public Model {
 public:
  /// A ValueError for a size below 1, or if the heads don't divide dim; a NameError for an unknown activation.
  explicit DistilBert(DistilBertOptions options = {});

  /// Options given to the constructor.
  const DistilBertOptions& options() const { return options_; }

 protected:
  Values call_many(const Values& xs) override;

 private:
  DistilBertOptions options_;
  Embedding word_embeddings_, position_embeddings_;
  LayerNormalization embeddings_norm_;
  Dropout dropout_;
  std::vector<Any<Layer>> layers_;
};

struct DistilBertForSequenceClassificationOptions {
  DistilBertOptions distilbert{};    ///< options of the encoder
  std::int64_t num_labels = 2;       ///< number of classes, at least 1
  double seq_classif_dropout = 0.2;  ///< dropout rate before the last layer, in [0, 1)
  std::string name{};                ///< name of the model; "": automatic
  Policy dtype{};                    ///< precision policy; default: the policy of the Trainer or the global one
};

/// DistilBert with a dense layer with relu, a dropout and a dense layer on the state of the first position. Inputs as
/// for DistilBert; output: logits (batch, num_labels). Layers: distilbert, pre_classifier, classifier.
class MEZZO_API DistilBertForSequenceClassification : public Model {
 public:
  /// A ValueError for num_labels below 1, or as by DistilBert.
  explicit DistilBertForSequenceClassification(DistilBertForSequenceClassificationOptions options = {});

  /// Options given to the constructor.
  const DistilBertForSequenceClassificationOptions& options() const { return options_; }

  /// Encoder, to freeze it or to load its weights.
  DistilBert& distilbert() { return distilbert_; }

 protected:
  Values call_many(const Values& xs) override;

 private:
  DistilBertForSequenceClassificationOptions options_;
  DistilBert distilbert_;
  Dense pre_classifier_, classifier_;
  Dropout dropout_;
};

}  // namespace mezzo
