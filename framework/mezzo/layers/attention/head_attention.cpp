#include <mezzo/layers/attention/head_attention.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/scoped_value.hpp>
#include <mezzo/layers/attention/attention_core.hpp>
#include <mezzo/nn/checks.hpp>

namespace mezzo {

using detail::HeadProjection;

Values detail::HeadAttention::run(const Value& query, const Value& value, const AttentionCallOptions& options,
                                  bool with_scores) {
  const ScopedValue<bool> causal(causal_, options.use_causal_mask);
  const ScopedValue<bool> scores(with_scores_, with_scores);
  Values xs{query, value, options.key.defined() ? options.key : value};
  if (options.attention_mask.defined()) xs.push_back(options.attention_mask);
  return Layer::operator()(
      xs, {.training = options.training, .mask = {options.query_mask, options.value_mask, options.key_mask}});
}

Value detail::HeadAttention::operator()(const Value& query, const Value& value, const AttentionCallOptions& options) {
  return run(query, value, options, false).front();
}

AttentionResult detail::HeadAttention::with_scores(const Value& query, const Value& value,
                                                   const AttentionCallOptions& options) {
  const Values out = run(query, value, options, true);
  return {out[0], out[1]};
}

Values detail::HeadAttention::call_with(const std::string& arguments, const Values& xs, const CallOptions& options) {
  const auto [is_causal, returns_scores] = detail::read_attention_arguments(label(), arguments);
  const ScopedValue<bool> causal(causal_, bool{is_causal});
  const ScopedValue<bool> scores(with_scores_, bool{returns_scores});
  return Layer::operator()(xs, options);
}

std::string detail::HeadAttention::call_arguments() const { return detail::attention_arguments(causal_, with_scores_); }

Values detail::HeadAttention::compute_mask(const Values&, const Values& masks) const { return {masks.front()}; }

void detail::HeadAttention::check_options(std::int64_t sliding_window, double dropout,
                                          std::optional<bool> flash_attention) const {
  if (sliding_window != 0) detail::require_positive(label(), "sliding_window", sliding_window);
  detail::require_rate(label(), "dropout", dropout);
  if (flash_attention == true && dropout > 0) {
    fail<ValueError>(label(), "flash_attention must not be true with a dropout; got dropout {}", dropout);
  }
}

void detail::HeadAttention::add_projections(const detail::HeadProjectionOptions& query,
                                            const detail::HeadProjectionOptions& key,
                                            const detail::HeadProjectionOptions& value, bool use_gate,
                                            const Shape& units) {
  state()->activity_regularizer = {};  // set by the projections
  query_ = sub("query", HeadProjection(query));
  key_ = sub("key", HeadProjection(key));
  detail::HeadProjectionOptions attended = query;  // output of the heads
  attended.size = value.size;
  if (use_gate) {
    detail::HeadProjectionOptions gate = attended;
    gate.gate = true;
    gate_ = sub("gate", HeadProjection(gate));
  }
  value_ = sub("value", HeadProjection(value));
  attended.from_heads = true;
  attended.units = units;
  output_ = sub("attention_output", HeadProjection(attended));
}

void detail::HeadAttention::check_call(const Values& xs, std::optional<bool> flash_attention) const {
  if (xs.size() < 2 || xs.size() > 4) {
    fail<ValueError>(label(), "takes 2 to 4 inputs (query, value, key, attention_mask); got {}", xs.size());
  }
  if (with_scores_ && flash_attention == true) {
    fail<ValueError>(label(), "with_scores: flash_attention must not be true, since it doesn't store the scores");
  }
}

detail::HeadAttention::Heads detail::HeadAttention::heads_of(const Value& query, const Value& key, const Value& value) {
  Heads heads;
  heads.query = (*query_)(query.with_mask({}));
  heads.key = (*key_)(key.with_mask({}));
  if (gate_) heads.gate = (*gate_)(query.with_mask({}));
  heads.value = (*value_)(value.with_mask({}));
  return heads;
}

Values detail::HeadAttention::finished(const AttentionResult& result, const Value& gate, const Value& query) {
  const Value attended = gate.defined() ? result.output * gate : result.output;
  const Value output = (*output_)(Values{attended, query.with_mask({})}).front();
  return with_scores_ ? Values{output, result.scores} : Values{output};
}

}  // namespace mezzo
