#pragma once
#include <optional>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

struct AttentionOptions {
  bool use_scale = false;          ///< true: a weight, initially 1, multiplies the scores, or with "concat" the sums
  std::string score_mode = "dot";  ///< "dot": query key^T; "concat": sum(tanh(query + key)) times a weight, initially 1
  double dropout = 0;              ///< probability of an attention weight to be dropped in training, in [0, 1)
  std::string name{};              ///< name of the layer; "": automatic ("attention", "attention_1")
  Policy dtype{};                  ///< precision policy; default: the policy of the enclosing layer or model
  bool trainable = true;           ///< false: training does not change the weights
};

/// Options of a call of Attention and AdditiveAttention.
struct AttentionLayerCallOptions {
  /// Masks of query and value, (batch, query positions) and (batch, value positions); an undefined one: that of the
  /// input itself. See CallOptions::mask.
  detail::CallMasks mask{};
  std::optional<bool> training{};  ///< as in CallOptions
  bool use_causal_mask = false;    ///< true: query i attends to keys 0 to i only
};

/// Output of an attention layer with the weights of the values, after masks and softmax and before dropout.
struct AttentionResult {
  Value output;  ///< weighted sum of the values: (batch, queries, dim)
  Value scores;  ///< weights after softmax: (batch, queries, keys), or (batch, heads, queries, keys)
};

/// Attention of Luong et al. (2015) without projections: softmax(scores) value. Inputs are {query, value} or {query,
/// value, key}, each (batch, positions, size); without a key, the value is the key. The result is (batch, query
/// positions, size of the value). Values whose mask is false have a weight of 0; if all are masked the weights are
/// those without a mask, up to rounding, as in Keras. Outputs are 0 where the query's mask is false, and have the
/// query's mask. Weights: scale () and concat_score_weight (), if the options enable them.
class MEZZO_API Attention : public Layer {
 public:
  /// A NameError for another score_mode, a ValueError for a dropout outside of [0, 1).
  explicit Attention(AttentionOptions options = {});

  /// Runs the layer: `Attention()({query, value})`.
  Value operator()(const Values& inputs, const AttentionLayerCallOptions& options = {});

  /// The same with the attention weights (batch, query positions, key positions): Keras' return_attention_scores.
  AttentionResult with_scores(const Values& inputs, const AttentionLayerCallOptions& options = {});

  void build(const Shape&) override {}  // the key's size is needed, too
  bool supports_masking() const override { return true; }
  Values compute_mask(const Values& inputs, const Values& masks) const override;
  Values call_with(const std::string& arguments, const Values& xs, const CallOptions& options) override;

 protected:
  /// For derived layers. `kind`: name of the class; `dropout`: share of the scores that is dropped in training.
  template <class Options>
  Attention(const char* kind, const Options& options, double dropout) : Layer(kind, options), dropout_(dropout) {}
  Values call_many(const Values& xs) override;
  std::string call_arguments() const override;

  /// Scores (batch, query positions, key positions) before masks and softmax.
  virtual Value scores_of(const Value& query, const Value& key);
  void check_dropout() const;

 private:
  Values run(const Values& inputs, const AttentionLayerCallOptions& options, bool with_scores);

  AttentionOptions options_;
  double dropout_ = 0;
  bool causal_ = false;       // option of the running call
  bool with_scores_ = false;  // option of the running call
  Variable scale_{"scale"};
  Variable concat_score_weight_{"concat_score_weight"};
};

struct AdditiveAttentionOptions {
  bool use_scale = true;  ///< true: a weight for each feature multiplies tanh(query + key)
  double dropout = 0;     ///< probability of an attention weight to be dropped in training, in [0, 1)
  std::string name{};     ///< name of the layer; "": automatic ("additive_attention", "additive_attention_1")
  Policy dtype{};         ///< precision policy; default: the policy of the enclosing layer or model
  bool trainable = true;  ///< false: training does not change the weights
};

/// Attention of Bahdanau et al. (2015): as Attention, with the scores sum(scale tanh(query + key)) over the features.
/// Weights: scale (size,), if use_scale.
class MEZZO_API AdditiveAttention : public Attention {
 public:
  /// A ValueError for a dropout outside of [0, 1).
  explicit AdditiveAttention(const AdditiveAttentionOptions& options = {});

 protected:
  Value scores_of(const Value& query, const Value& key) override;

 private:
  bool use_scale_;
  Variable factors_{"scale"};
};

}  // namespace mezzo
