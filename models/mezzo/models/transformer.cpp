#include <mezzo/models/transformer.hpp>

#include <numeric>
#include <utility>

#include <mezzo/nn/checks.hpp>
#include <mezzo/ops/key_value_cache.hpp>
#include <mezzo/ops/scaled_dot_product_attention.hpp>

namespace mezzo::detail {

Value position_ids(std::int64_t begin, std::int64_t count) {
  Tensor ids({count}, DType::int32);
  auto* numbers = ids.mutable_data<std::int32_t>();
  std::iota(numbers, numbers + count, static_cast<std::int32_t>(begin));
  return ids;
}

Value at_position(const Value& states, std::int64_t position) {
  const Shape& shape = states.shape();
  return reshape(slice(states, {.starts = {0, position, 0}, .sizes = {-1, 1, -1}}), {shape[0], shape[2]});
}

Values run_blocks(std::vector<Any<Layer>>& blocks, const Value& x, const Values& past) {
  Values out{x};
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    Values in{out[0]};
    if (!past.empty()) in.insert(in.end(), {past[2 * i + 1], past[2 * i + 2], past[0]});
    const Values y = (*blocks[i])(in);
    out[0] = y[0];
    out.insert(out.end(), {y[1], y[2]});
  }
  return out;
}

SelfAttention::SelfAttention(SelfAttentionOptions options)
    : Layer("SelfAttention", options), options_(std::move(options)) {
  sub(options_.input_name, options_.input);
  sub(options_.output_name, options_.output);
  set_weight_facts(*state(), {.numbers = {{"num_heads", options_.num_heads}}});
}

Values SelfAttention::call_many(const Values& xs) {
  require_rank(label(), xs[0].shape(), 3, "(batch, positions, size)");
  const Size batch = xs[0].shape()[0], positions = xs[0].shape()[1], size = xs[0].shape()[2];
  Values parts = split(options_.input(xs[0]), 3);
  for (Value& part : parts) part = reshape(part, {batch, positions, options_.num_heads, size / options_.num_heads});
  const Value attended = xs.size() > 1
                             ? cached_attention(parts[0], parts[1], parts[2], xs[1], xs[2], xs[3])
                             : dot_product_attention(parts[0], parts[1], parts[2],
                                                     {.is_causal = options_.causal, .dropout = options_.dropout});
  return {options_.output(reshape(attended, {batch, positions, size})), parts[1], parts[2]};
}

}  // namespace mezzo::detail
