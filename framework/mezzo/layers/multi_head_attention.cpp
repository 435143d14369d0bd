#include <mezzo/layers/multi_head_attention.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/scoped_value.hpp>
#include <mezzo/layers/head_projection.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/ops/scaled_dot_product_attention.hpp>

namespace mezzo {
namespace {

detail::HeadProjection projection(const MultiHeadAttentionOptions& options, bool from_heads, std::int64_t size) {
  return detail::HeadProjection({.from_heads = from_heads,
                                 .heads = options.num_heads,
                                 .size = size,
                                 .units = options.output_shape,
                                 .use_bias = options.use_bias,
                                 .kernel_initializer = options.kernel_initializer,
                                 .bias_initializer = options.bias_initializer});
}

/// Inserts an axis for heads: (batch, queries, keys) becomes (batch, 1, queries, keys).
Value over_heads(const Value& mask) {
  Shape shape = mask.shape();
  if (shape.size() != 3) return mask;
  shape.insert(shape.begin() + 1, 1);
  return reshape(mask, shape);
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(MultiHeadAttentionOptions options)
    : Layer("MultiHeadAttention", options), options_(std::move(options)) {
  detail::require_positive(label(), "num_heads", options_.num_heads);
  detail::require_positive(label(), "key_dim", options_.key_dim);
  if (options_.value_dim == 0) options_.value_dim = options_.key_dim;
  detail::require_positive(label(), "value_dim", options_.value_dim);
  if (options_.output_shape != 0) detail::require_positive(label(), "output_shape", options_.output_shape);
  if (!(options_.dropout >= 0 && options_.dropout < 1)) {
    fail<ValueError>(label(), "dropout must lie in [0, 1); got {}", options_.dropout);
  }
  query_ = sub("query", projection(options_, false, options_.key_dim));
  key_ = sub("key", projection(options_, false, options_.key_dim));
  value_ = sub("value", projection(options_, false, options_.value_dim));
  output_ = sub("attention_output", projection(options_, true, options_.value_dim));
}

Value MultiHeadAttention::operator()(const Value& query, const Value& value, const AttentionCallOptions& options) {
  const ScopedValue<AttentionCallOptions> call(call_, options);
  Values xs{query, value, options.key.defined() ? options.key : value};
  if (options.attention_mask.defined()) xs.push_back(options.attention_mask);
  return Layer::operator()(xs).front();
}

Values MultiHeadAttention::call_many(const Values& xs) {
  if (xs.size() < 2 || xs.size() > 4) {
    fail<ValueError>(label(), "takes 2 to 4 inputs (query, value, key, attention_mask); got {}", xs.size());
  }
  for (std::size_t i = 0; i < 3 && i < xs.size(); ++i) {
    detail::require_rank(label(), xs[i].shape(), 3, "(batch, positions, size)");
  }
  const AttentionOptions options{.mask = xs.size() > 3 ? over_heads(xs[3]) : Value(),
                                 .is_causal = call_.use_causal_mask,
                                 .dropout = options_.dropout};
  const Value query = (*query_)(xs[0]), key = (*key_)(xs.size() > 2 ? xs[2] : xs[1]), value = (*value_)(xs[1]);
  return (*output_)(Values{dot_product_attention(query, key, value, options), xs[0]});
}

}  // namespace mezzo
