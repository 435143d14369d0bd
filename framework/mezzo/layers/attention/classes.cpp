#include <mezzo/layers/classes.hpp>

#include <mezzo/layers/attention/attention.hpp>
#include <mezzo/layers/attention/grouped_query_attention.hpp>
#include <mezzo/layers/attention/multi_head_attention.hpp>

namespace mezzo {

/// Options of attention layers with projections.
template <class Options>
static void describe_projections(Fields& fields, Options& options) {
  fields("dropout", options.dropout);
  fields("use_bias", options.use_bias);
  fields("sliding_window", options.sliding_window);
  std::optional<std::int64_t> flash;
  if (options.flash_attention) flash = *options.flash_attention ? 1 : 0;
  fields("flash_attention", flash);
  options.flash_attention = flash ? std::optional<bool>(*flash != 0) : std::nullopt;
  fields("kernel_initializer", options.kernel_initializer);
  fields("bias_initializer", options.bias_initializer);
  fields("kernel_regularizer", options.kernel_regularizer);
  fields("bias_regularizer", options.bias_regularizer);
  fields("activity_regularizer", options.activity_regularizer);
  fields("kernel_constraint", options.kernel_constraint);
  fields("bias_constraint", options.bias_constraint);
  fields("use_gate", options.use_gate);
}

static void describe(Fields& fields, AdditiveAttentionOptions& options) {
  fields("use_scale", options.use_scale);
  fields("dropout", options.dropout);
}

static void describe(Fields& fields, AttentionOptions& options) {
  fields("use_scale", options.use_scale);
  fields("score_mode", options.score_mode);
  fields("dropout", options.dropout);
}

static void describe(Fields& fields, GroupedQueryAttentionOptions& options) {
  fields("head_dim", options.head_dim);
  fields("num_query_heads", options.num_query_heads);
  fields("num_key_value_heads", options.num_key_value_heads);
  describe_projections(fields, options);
}

static void describe(Fields& fields, MultiHeadAttentionOptions& options) {
  fields("num_heads", options.num_heads);
  fields("key_dim", options.key_dim);
  fields("value_dim", options.value_dim);
  fields("output_shape", options.output_shape);
  fields("attention_axes", options.attention_axes);
  describe_projections(fields, options);
}

std::vector<detail::SavedClass<Layer>> attention_layer_classes() {
  return {detail::saved_layer<AdditiveAttention, AdditiveAttentionOptions>("AdditiveAttention"),
          detail::saved_layer<Attention, AttentionOptions>("Attention"),
          detail::saved_layer<GroupedQueryAttention, GroupedQueryAttentionOptions>("GroupedQueryAttention"),
          detail::saved_layer<MultiHeadAttention, MultiHeadAttentionOptions>("MultiHeadAttention")};
}

}  // namespace mezzo
