#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/layers/core/dense.hpp>
#include <mezzo/nn/layer.hpp>

// Parts that the transformers (Bert, GPT, ViT) share.
namespace mezzo::detail {

/// Returns begin, begin + 1, ...: int32 (count,), indices of a table of position embeddings.
Value position_ids(std::int64_t begin, std::int64_t count);

/// Selects one position of states (batch, positions, size): (batch, size).
Value at_position(const Value& states, std::int64_t position);

/// Calls blocks one after the other. `past`: {}, or the position of x and caches of keys and values of each block, in
/// the form of cached_attention. Each block takes x, then its caches and the position, unless `past` is empty, or
/// `packed`, those of packed_inputs(). It returns x and the keys and values of x. Returns x, then keys and values of
/// each block.
Values run_blocks(std::vector<Any<Layer>>& blocks, const Value& x, const Values& past, const Values& packed = {});

/// Inputs of language models, after input_ids: none, or position_ids and segment_ids, integers (batch, positions), as
/// TextDataset::pack() makes them. Returns {} or a mask, bool (batch, 1, positions, positions), true for keys of the
/// query's segment, and the positions. A ValueError for another number of inputs, a ShapeError for another shape.
Values packed_inputs(const std::string& where, const Values& inputs);

struct SelfAttentionOptions {
  std::int64_t num_heads = 1;          ///< number of heads; divides the size of the input
  Dense input = Dense({.units = 1});   ///< required; projects to queries, keys and values side by side: 3 * size
  Dense output = Dense({.units = 1});  ///< required; projects the concatenated heads: size
  std::string input_name{};            ///< required; name of the input projection
  std::string output_name{};           ///< required; name of the output projection
  bool causal = false;                 ///< true: position i attends to positions 0 to i only
  double dropout = 0;                  ///< probability of an attention weight to be dropped in training, in [0, 1)
  std::string name{};                  ///< name of the layer; "": automatic
  Policy dtype{};                      ///< precision policy; default: the policy of the enclosing layer or model
};

/// Self-attention with one matrix product for queries, keys and values, as in GPT-2 and torch's MultiheadAttention: x
/// (batch, positions, size) to a result of the same shape, and keys and values, each (batch, positions, heads, size /
/// heads). Caches of keys and values and the position of x may follow x as inputs, in the form of cached_attention;
/// then x has one position. Otherwise packed_inputs() may follow, of which the mask is used.
class SelfAttention : public Layer {
 public:
  explicit SelfAttention(SelfAttentionOptions options);

 protected:
  Values call_many(const Values& xs) override;

 private:
  SelfAttentionOptions options_;
};

}  // namespace mezzo::detail
