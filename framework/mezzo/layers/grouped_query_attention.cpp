#include <mezzo/layers/grouped_query_attention.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/scoped_value.hpp>
#include <mezzo/layers/attention_core.hpp>
#include <mezzo/nn/checks.hpp>

namespace mezzo {

GroupedQueryAttention::GroupedQueryAttention(GroupedQueryAttentionOptions options)
    : Layer("GroupedQueryAttention", options), options_(std::move(options)) {
  state()->activity_regularizer = {};  // the projections have it
  detail::require_positive(label(), "head_dim", options_.head_dim);
  detail::require_positive(label(), "num_query_heads", options_.num_query_heads);
  detail::require_positive(label(), "num_key_value_heads", options_.num_key_value_heads);
  if (options_.num_query_heads % options_.num_key_value_heads != 0) {
    fail<ValueError>(label(), "num_query_heads must be a multiple of num_key_value_heads, {}; got {}",
                     options_.num_key_value_heads, options_.num_query_heads);
  }
  if (options_.sliding_window != 0) detail::require_positive(label(), "sliding_window", options_.sliding_window);
  detail::require_dropout(label(), options_.dropout);
  if (options_.flash_attention == true && options_.dropout > 0) {
    fail<ValueError>(label(), "flash_attention must not be true with a dropout; got dropout {}", options_.dropout);
  }
  const auto projection = [&](std::int64_t heads) {
    return detail::projection_options(options_, heads, options_.head_dim);
  };
  query_ = sub("query", detail::HeadProjection(projection(options_.num_query_heads)));
  key_ = sub("key", detail::HeadProjection(projection(options_.num_key_value_heads)));
  if (options_.use_gate) {
    auto gate = projection(options_.num_query_heads);
    gate.gate = true;
    gate_ = sub("gate", detail::HeadProjection(gate));
  }
  value_ = sub("value", detail::HeadProjection(projection(options_.num_key_value_heads)));
  auto output = projection(options_.num_query_heads);
  output.from_heads = true;
  output_ = sub("attention_output", detail::HeadProjection(output));
}

Values GroupedQueryAttention::run(const Value& query, const Value& value, const AttentionCallOptions& options,
                                  bool with_scores) {
  const ScopedValue<bool> causal(causal_, options.use_causal_mask);
  const ScopedValue<bool> scores(with_scores_, with_scores);
  Values xs{query, value, options.key.defined() ? options.key : value};
  if (options.attention_mask.defined()) xs.push_back(options.attention_mask);
  return Layer::operator()(
      xs, {.training = options.training, .mask = {options.query_mask, options.value_mask, options.key_mask}});
}

Value GroupedQueryAttention::operator()(const Value& query, const Value& value, const AttentionCallOptions& options) {
  return run(query, value, options, false).front();
}

AttentionResult GroupedQueryAttention::with_scores(const Value& query, const Value& value,
                                                   const AttentionCallOptions& options) {
  const Values out = run(query, value, options, true);
  return {out[0], out[1]};
}

Values GroupedQueryAttention::call_with(const std::string& arguments, const Values& xs, const CallOptions& options) {
  const auto [is_causal, returns_scores] = detail::read_attention_arguments(label(), arguments);
  const ScopedValue<bool> causal(causal_, bool{is_causal});
  const ScopedValue<bool> scores(with_scores_, bool{returns_scores});
  return Layer::operator()(xs, options);
}

std::string GroupedQueryAttention::call_arguments() const { return detail::attention_arguments(causal_, with_scores_); }

Values GroupedQueryAttention::compute_mask(const Values&, const Values& masks) const { return {masks.front()}; }

Values GroupedQueryAttention::call_many(const Values& xs) {
  if (xs.size() < 2 || xs.size() > 4) {
    fail<ValueError>(label(), "takes 2 to 4 inputs (query, value, key, attention_mask); got {}", xs.size());
  }
  if (with_scores_ && options_.flash_attention == true) {
    fail<ValueError>(label(), "with_scores: flash_attention must not be true, since it doesn't store the scores");
  }
  for (std::size_t i = 0; i < 3 && i < xs.size(); ++i) {
    detail::require_rank(label(), xs[i].shape(), 3, "(batch, positions, size)");
  }
  const Value &q = xs[0], &v = xs[1], &k = xs.size() > 2 ? xs[2] : xs[1];
  detail::AttendOptions options{.causal = causal_,
                                .dropout = options_.dropout,
                                .with_scores = with_scores_,
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
  const Value query = (*query_)(q.with_mask({})), key = (*key_)(k.with_mask({}));
  const Value gate = options_.use_gate ? (*gate_)(q.with_mask({})) : Value();
  const Value value = (*value_)(v.with_mask({}));
  AttentionResult result = detail::attend(query, over_group(key), over_group(value), options);
  if (gate.defined()) result.output = result.output * gate;
  const Value output = (*output_)(Values{result.output, q.with_mask({})}).front();
  return with_scores_ ? Values{output, result.scores} : Values{output};
}

}  // namespace mezzo
