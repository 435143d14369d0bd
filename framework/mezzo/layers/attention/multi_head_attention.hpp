#pragma once
#include <optional>

#include <mezzo/core/api.hpp>
#include <mezzo/layers/attention/head_attention.hpp>

namespace mezzo {

struct MultiHeadAttentionOptions {
  std::int64_t num_heads = 0;     ///< required; number of heads, at least 1
  std::int64_t key_dim = 0;       ///< required; size of each head's queries and keys, at least 1
  std::int64_t value_dim = 0;     ///< size of each head's values; 0: key_dim
  double dropout = 0;             ///< probability of an attention weight to be dropped in training, in [0, 1)
  bool use_bias = true;           ///< true: all four projections add a bias
  detail::Ints output_shape{};    ///< sizes of the output's last axes, each at least 1; {}: the last size of the query
  detail::Ints attention_axes{};  ///< axes of the inputs that hold positions; {}: all but the first and the last
  std::int64_t sliding_window = 0;  ///< n: queries attend to keys less than n positions away only; 0: to all
  /// true: never stores the scores; a ValueError with dropout, and in calls for scores. false: computes with the
  /// scores. Default: stores the scores only if a call requests them.
  std::optional<bool> flash_attention{};
  Any<Initializer> kernel_initializer = "glorot_uniform";  ///< initial kernels
  Any<Initializer> bias_initializer = "zeros";             ///< initial biases
  Any<Regularizer> kernel_regularizer{};                   ///< penalty of each kernel, added to the loss
  Any<Regularizer> bias_regularizer{};                     ///< penalty of each bias, added to the loss
  Any<Regularizer> activity_regularizer{};                 ///< penalty of each projection's output, over the batch size
  Any<Constraint> kernel_constraint{};                     ///< projects each kernel after each update
  Any<Constraint> bias_constraint{};                       ///< projects each bias after each update
  bool use_gate = false;  ///< true: a sigmoid of a further projection of the query, "gate", multiplies the output of
                          ///< the heads
  std::string name{};     ///< name of the layer; "": automatic ("multi_head_attention", "multi_head_attention_1")
  Policy dtype{};         ///< precision policy; default: the policy of the enclosing layer or model
  bool trainable = true;  ///< false: training does not change the weights
};

/// Multi-head attention (Vaswani et al., 2017): query (batch, query positions, size) and value (batch, key positions,
/// size of values) to (batch, query positions, output_shape). Weights have Keras' names and shapes: query/kernel (size,
/// heads, key_dim), query/bias (heads, key_dim), likewise key and value, attention_output/kernel (heads, value_dim,
/// output_shape), attention_output/bias (output_shape,). Weight files have the layout of torch's Linear: query.weight
/// (heads * key_dim, size). All masks are joined by "and". The output of a query that may attend to no key is 0 before
/// the last projection. The output has the query's mask. Inputs may have more axes of positions: (batch, height, width,
/// size); then queries attend along attention_axes, and attention_mask is (batch, other axes, query axes, key axes).
class MEZZO_API MultiHeadAttention : public detail::HeadAttention {
 public:
  /// A ValueError if num_heads or key_dim is below 1, a size is negative, dropout is outside of [0, 1), or not 0 with
  /// flash_attention.
  explicit MultiHeadAttention(MultiHeadAttentionOptions options = {});

  /// Positional: `MultiHeadAttention(8, 64)`.
  template <class I, detail::IfInteger<I> = 0, class J, detail::IfInteger<J> = 0>
  explicit MultiHeadAttention(I num_heads, J key_dim, MultiHeadAttentionOptions options = {})
      : MultiHeadAttention(detail::positional(
            "MultiHeadAttention", options.name, "key_dim", &MultiHeadAttentionOptions::key_dim,
            static_cast<std::int64_t>(key_dim),
            detail::positional("MultiHeadAttention", options.name, "num_heads", &MultiHeadAttentionOptions::num_heads,
                               static_cast<std::int64_t>(num_heads), options))) {}

 protected:
  Values call_many(const Values& xs) override;

 private:
  MultiHeadAttentionOptions options_;
};

}  // namespace mezzo
