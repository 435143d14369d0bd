#include <mezzo/models/self_attention.hpp>

#include <utility>

#include <mezzo/nn/checks.hpp>
#include <mezzo/ops/scaled_dot_product_attention.hpp>

namespace mezzo::detail {

SelfAttention::SelfAttention(SelfAttentionOptions options)
    : Layer("SelfAttention", options), options_(std::move(options)) {
  sub(options_.input_name, options_.input);
  sub(options_.output_name, options_.output);
}

Values SelfAttention::call_many(const Values& xs) {
  require_rank(label(), xs[0].shape(), 3, "(batch, positions, size)");
  const std::int64_t batch = xs[0].shape()[0], positions = xs[0].shape()[1], size = xs[0].shape()[2];
  Values parts = split(options_.input(xs[0]), 3);
  for (Value& part : parts) part = reshape(part, {batch, positions, options_.num_heads, size / options_.num_heads});
  const bool continues = xs.size() == 3;
  if (continues) {
    parts[1] = concat({xs[1], parts[1]}, 1);
    parts[2] = concat({xs[2], parts[2]}, 1);
  }
  const Value attended = dot_product_attention(
      parts[0], parts[1], parts[2], {.is_causal = options_.causal && !continues, .dropout = options_.dropout});
  return {options_.output(reshape(attended, {batch, positions, size})), parts[1], parts[2]};
}

}  // namespace mezzo::detail
