#include <mezzo/models/transformer.hpp>

#include <numeric>
#include <utility>

#include <mezzo/core/fail.hpp>
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

Values packed_inputs(const std::string& where, const Values& inputs) {
  if (inputs.size() == 1) return {};
  if (inputs.size() != 3) {
    fail<ValueError>(where, "takes input_ids, and optionally position_ids and segment_ids; got {} inputs",
                     inputs.size());
  }
  for (std::size_t i = 1; i < 3; ++i) {
    if (inputs[i].shape() == inputs[0].shape()) continue;
    fail<ShapeError>(where, "{} must have the shape of input_ids, {}; got {}", i == 1 ? "position_ids" : "segment_ids",
                     inputs[0].shape(), inputs[i].shape());
  }
  const Size batch = inputs[2].shape()[0], positions = inputs[2].shape()[1];
  const Value queries = reshape(inputs[2], {batch, 1, positions, 1}),
              keys = reshape(inputs[2], {batch, 1, 1, positions});
  return {queries == keys, inputs[1]};
}

Values run_blocks(std::vector<Any<Layer>>& blocks, const Value& x, const Values& past, const Values& packed) {
  Values out{x};
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    Values in{out[0]};
    in.insert(in.end(), packed.begin(), packed.end());
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
  const bool cached = xs.size() > 3;
  const Value mask = !cached && xs.size() > 1 ? xs[1] : Value();
  const Value attended =
      cached ? cached_attention(parts[0], parts[1], parts[2], xs[1], xs[2], xs[3])
             : dot_product_attention(parts[0], parts[1], parts[2],
                                     {.mask = mask, .is_causal = options_.causal, .dropout = options_.dropout});
  return {options_.output(reshape(attended, {batch, positions, size})), parts[1], parts[2]};
}

}  // namespace mezzo::detail
