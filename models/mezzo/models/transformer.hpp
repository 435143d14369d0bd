#pragma once
#include <cstdint>
#include <string>

#include <mezzo/layers/dense.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo::detail {

struct SelfAttentionOptions {
  std::int64_t num_heads = 1;
  Dense input = Dense({.units = 1});   ///< to queries, keys and values, side by side: 3 * size
  Dense output = Dense({.units = 1});  ///< from all heads: size
  std::string input_name{};
  std::string output_name{};
  bool causal = false;
  double dropout = 0;
  std::string name{};
  Policy dtype{};
};

/// Attention of a sequence to itself, with one product for queries, keys and values, as GPT-2 and torch's
/// MultiheadAttention have it: x (batch, positions, size) to the same shape, and keys and values (batch, positions,
/// heads, size of a head). With keys and values of earlier positions behind x, new ones see them all and themselves: a
/// cache, for one position at a time.
class SelfAttention : public Layer {
 public:
  explicit SelfAttention(SelfAttentionOptions options);

 protected:
  Values call_many(const Values& xs) override;

 private:
  SelfAttentionOptions options_;
};

}  // namespace mezzo::detail
