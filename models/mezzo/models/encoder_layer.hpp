#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/layers/attention/multi_head_attention.hpp>
#include <mezzo/layers/core/dense.hpp>
#include <mezzo/layers/core/embedding.hpp>
#include <mezzo/layers/normalization/layer_normalization.hpp>
#include <mezzo/layers/regularization/dropout.hpp>

// Parts that the encoders of text (Bert, DistilBert) share.
namespace mezzo::detail {

struct EncoderOptions {
  std::int64_t hidden_size = 0;        ///< size of hidden states
  std::int64_t num_heads = 0;          ///< number of heads; divides hidden_size
  std::int64_t intermediate_size = 0;  ///< size of the hidden layer between the two dense layers
  std::string activation = "gelu";     ///< activation between them, by Hugging Face's name
  double dropout = 0;                  ///< dropout rate of hidden states, in [0, 1)
  double attention_dropout = 0;        ///< dropout rate of attention weights, in [0, 1)
  double epsilon = 1e-12;              ///< epsilon of layer normalizations
  double initializer_range = 0.02;     ///< standard deviation of initial kernels and embeddings
};

Dense encoder_dense(const EncoderOptions& options, std::int64_t units, const ActivationFunction& activation = {});
Embedding encoder_embedding(const EncoderOptions& options, std::int64_t rows);
LayerNormalization encoder_norm(const EncoderOptions& options);

struct EncoderLayerOptions {
  EncoderOptions encoder{};                                   ///< options of the whole model
  std::vector<std::pair<std::string, std::string>> rename{};  ///< names in weight files, as in WeightFileOptions
  std::string name{};                                         ///< name of the layer; "": automatic
  Policy dtype{};  ///< precision policy; default: the policy of the enclosing layer or model
};

/// Attention, then two dense layers, each with a residual connection and layer normalization (Vaswani et al., 2017).
/// Inputs: hidden states, the queries among them, and optionally a mask. Output: new hidden states of the queries.
/// Layers: attention, attention_norm, intermediate, output, output_norm.
class EncoderLayer : public Layer {
 public:
  EncoderLayer(const char* kind, EncoderLayerOptions options);

 protected:
  Values call_many(const Values& xs) override;

 private:
  Dense intermediate_dense() const;

  EncoderOptions options_;
  MultiHeadAttention attention_;
  LayerNormalization attention_norm_ = sub("attention_norm", encoder_norm(options_));
  Dense intermediate_ = sub("intermediate", intermediate_dense());
  Dense output_ = sub("output", encoder_dense(options_, options_.hidden_size));
  LayerNormalization output_norm_ = sub("output_norm", encoder_norm(options_));
  Dropout dropout_ = sub("dropout", Dropout({.rate = options_.dropout}));
};

/// Mask (batch, 1, 1, positions) of an attention_mask (batch, positions), which is 0 at padding.
Value padding_mask(const Value& attention_mask);

}  // namespace mezzo::detail
