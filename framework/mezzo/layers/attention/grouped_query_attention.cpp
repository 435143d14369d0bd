#include <mezzo/layers/attention/grouped_query_attention.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/layers/attention/attention_core.hpp>
#include <mezzo/nn/checks.hpp>

namespace mezzo {

GroupedQueryAttention::GroupedQueryAttention(GroupedQueryAttentionOptions options)
    : detail::HeadAttention("GroupedQueryAttention", options), options_(std::move(options)) {
  detail::require_positive(label(), "head_dim", options_.head_dim);
  detail::require_positive(label(), "num_query_heads", options_.num_query_heads);
  detail::require_positive(label(), "num_key_value_heads", options_.num_key_value_heads);
  if (options_.num_query_heads % options_.num_key_value_heads != 0) {
    fail<ValueError>(label(), "num_query_heads must be a multiple of num_key_value_heads, {}; got {}",
                     options_.num_key_value_heads, options_.num_query_heads);
  }
  check_options(options_.sliding_window, options_.dropout, options_.flash_attention);
  const auto query = detail::projection_options(options_, options_.num_query_heads, options_.head_dim);
  const auto value = detail::projection_options(options_, options_.num_key_value_heads, options_.head_dim);
  add_projections(query, value, value, options_.use_gate, {});
  detail::set_weight_facts(*state(), {.numbers = {{"num_query_heads", options_.num_query_heads},
                                                  {"num_key_value_heads", options_.num_key_value_heads}}});
}

Values GroupedQueryAttention::call_many(const Values& xs) {
  check_call(xs, options_.flash_attention);
  for (std::size_t i = 0; i < 3 && i < xs.size(); ++i) {
    detail::require_rank(label(), xs[i].shape(), 3, "(batch, positions, size)");
  }
  const Value &q = xs[0], &v = xs[1], &k = xs.size() > 2 ? xs[2] : xs[1];
  detail::AttendOptions options{.causal = causal(),
                                .dropout = options_.dropout,
                                .with_scores = returns_scores(),
                                .fused = options_.flash_attention.value_or(true)};
  if (xs.size() > 3) {
    options.mask = detail::as_mask(xs[3]);
    const std::size_t rank = options.mask.shape().size();
    if (rank < 2 || rank > 4) {
      fail<ShapeError>(label(), "attention_mask must have 2 to 4 axes, the last 2 of queries and keys; got shape {}",
                       options.mask.shape());
    }
    while (options.mask.shape().size() < 4) options.mask = expand_dims(options.mask, -3);
  }
  Value masks = detail::joined_masks(q, v, k);
  if (options_.sliding_window > 0) {
    masks = detail::both_masks(masks, detail::window_mask(q, k, options_.sliding_window));
  }
  if (masks.defined()) options.mask = detail::both_masks(options.mask, expand_dims(masks, 1));

  const std::int64_t group = options_.num_query_heads / options_.num_key_value_heads;
  const auto over_group = [&](const Value& x) { return group == 1 ? x : repeat(x, group, 2); };
  const Heads heads = heads_of(q, k, v);
  const AttentionResult result = detail::attend(heads.query, over_group(heads.key), over_group(heads.value), options);
  return finished(result, heads.gate, q);
}

}  // namespace mezzo
