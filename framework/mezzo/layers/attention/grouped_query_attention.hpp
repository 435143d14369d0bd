#pragma once
#include <optional>

#include <mezzo/core/api.hpp>
#include <mezzo/layers/attention/head_attention.hpp>

namespace mezzo {

struct GroupedQueryAttentionOptions {
  std::int64_t head_dim = 0;             ///< required; size of each head, at least 1
  std::int64_t num_query_heads = 0;      ///< required; number of heads of queries, a multiple of num_key_value_heads
  std::int64_t num_key_value_heads = 0;  ///< required; number of heads of keys and values, at least 1
  double dropout = 0;                    ///< probability of an attention weight to be dropped in training, in [0, 1)
  bool use_bias = true;                  ///< true: all projections add a bias
  std::int64_t sliding_window = 0;       ///< n: queries attend to keys less than n positions away only; 0: to all
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
  std::string name{};     ///< name of the layer; "": automatic ("grouped_query_attention", "grouped_query_attention_1")
  Policy dtype{};         ///< precision policy; default: the policy of the enclosing layer or model
  bool trainable = true;  ///< false: training does not change the weights
};

/// Multi-head attention whose heads share keys and values in groups (Ainslie et al., 2023): query (batch, query
/// positions, size) and value (batch, key positions, size of values) to (batch, query positions, size). With one head
/// of keys and values it is multi-query attention. Masks and weights are as in MultiHeadAttention, with key/kernel and
/// value/kernel (size, key and value heads, head_dim).
class MEZZO_API GroupedQueryAttention : public detail::HeadAttention {
 public:
  /// A ValueError if a number is below 1, num_query_heads is not a multiple of num_key_value_heads, dropout is outside
  /// of [0, 1), or not 0 with flash_attention.
  explicit GroupedQueryAttention(GroupedQueryAttentionOptions options = {});

 protected:
  Values call_many(const Values& xs) override;

 private:
  GroupedQueryAttentionOptions options_;
};

namespace layers {
using GroupQueryAttention = mezzo::GroupedQueryAttention;  ///< Keras' name in keras.layers
}  // namespace layers

}  // namespace mezzo
