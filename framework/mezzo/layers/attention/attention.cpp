#include <mezzo/layers/attention/attention.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/scoped_value.hpp>
#include <mezzo/layers/attention/attention_core.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/nn/masks.hpp>

namespace mezzo {

Attention::Attention(AttentionOptions options) : Attention("Attention", options, options.dropout) {
  options_ = std::move(options);
  if (options_.score_mode != "dot" && options_.score_mode != "concat") {
    fail_unknown(label(), "score_mode", options_.score_mode, {"dot", "concat"});
  }
  check_dropout();
}

void Attention::check_dropout() const { detail::require_rate(label(), "dropout", dropout_); }

Values Attention::run(const Values& inputs, const AttentionLayerCallOptions& options, bool with_scores) {
  const ScopedValue<bool> causal(causal_, options.use_causal_mask);
  const ScopedValue<bool> scores(with_scores_, with_scores);
  return Layer::operator()(inputs, {.training = options.training, .mask = options.mask});
}

Value Attention::operator()(const Values& inputs, const AttentionLayerCallOptions& options) {
  return run(inputs, options, false).front();
}

AttentionResult Attention::with_scores(const Values& inputs, const AttentionLayerCallOptions& options) {
  const Values out = run(inputs, options, true);
  return {out[0], out[1]};
}

Values Attention::call_with(const std::string& arguments, const Values& xs, const CallOptions& options) {
  const auto [causal, scores] = detail::read_attention_arguments(label(), arguments);
  return run(xs, {.mask = options.mask, .training = options.training, .use_causal_mask = causal}, scores);
}

std::string Attention::call_arguments() const { return detail::attention_arguments(causal_, with_scores_); }

Values Attention::compute_mask(const Values&, const Values& masks) const { return {masks.front()}; }

Value Attention::scores_of(const Value& query, const Value& key) {
  if (options_.use_scale) add_weight(scale_, {.shape = {}, .initializer = "ones"});
  if (options_.score_mode == "dot") {
    const Value scores = matmul(query, key, {.transpose_b = true});
    return options_.use_scale ? scores * scale_ : scores;
  }
  add_weight(concat_score_weight_, {.shape = {}, .initializer = "ones"});
  const Value sums = expand_dims(query, -2) + expand_dims(key, -3);
  return sum(tanh(options_.use_scale ? sums * scale_ : sums), {.axes = {-1}}) * concat_score_weight_;
}

Values Attention::call_many(const Values& xs) {
  if (xs.size() < 2 || xs.size() > 3) {
    fail<ValueError>(label(), "takes 2 or 3 inputs (query, value, key); got {}", xs.size());
  }
  for (const Value& x : xs) detail::require_rank(label(), x.shape(), 3, "(batch, positions, size)");
  const Value &query = xs[0], &value = xs[1], &key = xs.size() > 2 ? xs[2] : xs[1];
  const std::int64_t size = query.shape()[2].or_unknown(), positions = value.shape()[1].or_unknown();
  if (key.shape()[2] != size) {
    fail<ShapeError>(label(), "the key's last axis must be that of the query, {}; got shape {}", size, key.shape());
  }
  if (key.shape()[1] != positions) {
    fail<ShapeError>(label(), "the key must have the positions of the value, {}; got shape {}", positions, key.shape());
  }
  Value scores = scores_of(query, key);
  Value mask = value.mask().defined() ? expand_dims(value.mask(), -2) : Value();
  if (causal_) mask = detail::both_masks(mask, detail::causal_mask(query, key));
  // Added, as in Keras, which has -1e9 in dtypes wider than float16.
  if (mask.defined()) scores = where(mask, scores, scores + detail::masked_score);
  scores = softmax(scores);
  Value output = matmul(dropout_ > 0 ? dropout(scores, dropout_) : scores, value);
  if (query.mask().defined()) output = where(expand_dims(query.mask(), -1), output, 0.0);
  return with_scores_ ? Values{output, scores} : Values{output};
}

AdditiveAttention::AdditiveAttention(const AdditiveAttentionOptions& options)
    : Attention("AdditiveAttention", options, options.dropout), use_scale_(options.use_scale) {
  check_dropout();
}

Value AdditiveAttention::scores_of(const Value& query, const Value& key) {
  Value sums = tanh(expand_dims(query, -2) + expand_dims(key, -3));
  if (use_scale_) {
    add_weight(factors_, {.shape = {query.shape().back()}, .initializer = "glorot_uniform"});
    sums = sums * factors_;
  }
  return sum(sums, {.axes = {-1}});
}

}  // namespace mezzo
