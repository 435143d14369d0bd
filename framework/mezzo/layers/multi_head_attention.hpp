#pragma once
#include <mezzo/nn/layer.hpp>

namespace mezzo {

/// `num_heads` and `key_dim`, the size of each head's queries and keys, have to be given.
struct MultiHeadAttentionOptions {
  std::int64_t num_heads = 0;
  std::int64_t key_dim = 0;
  std::int64_t value_dim = 0;  ///< size of each head's values; 0: key_dim
  double dropout = 0;          ///< probability with which a weight is dropped in training
  bool use_bias = true;
  std::int64_t output_shape = 0;  ///< size of the output's last axis; 0: that of the query's
  Any<Initializer> kernel_initializer = "glorot_uniform";
  Any<Initializer> bias_initializer = "zeros";
  std::string name{};
  Policy dtype{};
  bool trainable = true;
};

/// `key` is the value unless given. `attention_mask`, bool, tells which keys (axis -1) a query (axis -2) may see:
/// (batch, query positions, key positions), or with an axis for heads after the batch; sizes of 1 stretch. With
/// `use_causal_mask` query i sees the keys up to i.
struct AttentionCallOptions {
  Value key{};
  Value attention_mask{};
  bool use_causal_mask = false;
};

/// Attention of several heads (Vaswani et al., 2017): query (batch, query positions, size) and value (batch, key
/// positions, size of values) to (batch, query positions, output_shape). Layers, with Keras' shapes: query/kernel
/// (size, heads, key_dim), query/bias (heads, key_dim), key and value likewise, attention_output/kernel (heads,
/// value_dim, output_shape), attention_output/bias. Weight files have them as torch's Linear does: query.weight (heads
/// * key_dim, size).
class MultiHeadAttention : public Layer {
 public:
  /// A ValueError if num_heads or key_dim is below 1, a size is negative, or dropout lies outside of [0, 1).
  explicit MultiHeadAttention(MultiHeadAttentionOptions options = {});

  Value operator()(const Value& query, const Value& value, const AttentionCallOptions& options = {});
  void build(const Shape&) override {}  // at the first call, as value and key may be of other sizes

 protected:
  Values call_many(const Values& xs) override;

 private:
  MultiHeadAttentionOptions options_;
  AttentionCallOptions call_;
  Any<Layer> query_, key_, value_, output_;
};

}  // namespace mezzo
