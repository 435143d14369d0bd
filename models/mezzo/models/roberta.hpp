#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/layers/core/dense.hpp>
#include <mezzo/layers/regularization/dropout.hpp>
#include <mezzo/models/bert.hpp>

namespace mezzo {

/// Sizes and rates of a Roberta, with Hugging Face's names and the defaults of roberta-base. All sizes are at least 1.
struct RobertaOptions {
  std::int64_t vocab_size = 50265;        ///< number of token ids
  std::int64_t hidden_size = 768;         ///< size of hidden states
  std::int64_t num_hidden_layers = 12;    ///< number of transformer layers
  std::int64_t num_attention_heads = 12;  ///< number of heads; divides hidden_size
  std::int64_t intermediate_size = 3072;  ///< size of the hidden layer between the two dense layers
  std::string hidden_act = "gelu";        ///< activation between them, as in BertOptions
  std::int64_t max_position_embeddings =
      514;                                    ///< rows of the position embeddings: pad_token_id + 1 more than positions
  std::int64_t type_vocab_size = 1;           ///< number of token types
  std::int64_t pad_token_id = 1;              ///< id of padding, at least 0; the first token has position
                                              ///< pad_token_id + 1, padding position pad_token_id
  double hidden_dropout_prob = 0.1;           ///< dropout rate of hidden states, in [0, 1)
  double attention_probs_dropout_prob = 0.1;  ///< dropout rate of attention weights, in [0, 1)
  double layer_norm_eps = 1e-5;               ///< epsilon of layer normalizations, at least 0
  double initializer_range = 0.02;            ///< standard deviation of initial kernels and embeddings, at least 0
  bool add_pooling_layer = true;              ///< true: adds the output pooler_output
  std::string name{};                         ///< name of the model; "": automatic
  Policy dtype{};  ///< precision policy; default: the policy of the Trainer or the global one
};

/// RoBERTa, an encoder of text (Liu et al., 2019, arXiv 1907.11692), with Hugging Face's structure, names and initial
/// values: Bert with positions that count the tokens without padding. Inputs, outputs and layers are those of Bert. A
/// ShapeError for more than max_position_embeddings - pad_token_id - 1 positions.
class MEZZO_API Roberta : public Bert {
 public:
  /// A ValueError for a size below 1, if the heads don't divide hidden_size, or if no position is left; a NameError for
  /// an unknown hidden_act.
  explicit Roberta(RobertaOptions options = {});

  /// Options given to the constructor.
  const RobertaOptions& options() const { return roberta_options_; }

 protected:
  Value position_indices(const Value& ids) const override;

 private:
  RobertaOptions roberta_options_;
};

struct RobertaForSequenceClassificationOptions {
  RobertaOptions roberta{};                    ///< options of the encoder; add_pooling_layer is not used
  std::int64_t num_labels = 2;                 ///< number of classes, at least 1
  std::optional<double> classifier_dropout{};  ///< dropout rate before the dense layers, in [0, 1); default:
                                               ///< hidden_dropout_prob of the encoder
  std::string name{};                          ///< name of the model; "": automatic
  Policy dtype{};  ///< precision policy; default: the policy of the Trainer or the global one
};

/// Roberta with a dropout, a dense layer with tanh, a dropout and a dense layer on the state of the first position.
/// Inputs as for Bert; output: logits (batch, num_labels). Layers: roberta, classifier_dense, classifier_out_proj.
class MEZZO_API RobertaForSequenceClassification : public Model {
 public:
  /// A ValueError for num_labels below 1, or as by Roberta.
  explicit RobertaForSequenceClassification(RobertaForSequenceClassificationOptions options = {});

  /// Options given to the constructor.
  const RobertaForSequenceClassificationOptions& options() const { return options_; }

  /// Encoder, to freeze it or to load its weights.
  Roberta& roberta() { return roberta_; }

 protected:
  Values call_many(const Values& xs) override;

 private:
  RobertaForSequenceClassificationOptions options_;
  Roberta roberta_;
  Dense classifier_dense_, classifier_out_proj_;
  Dropout dropout_;
};

}  // namespace mezzo
