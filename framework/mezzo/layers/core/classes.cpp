#include <mezzo/layers/classes.hpp>

#include <mezzo/layers/core/dense.hpp>
#include <mezzo/layers/core/einsum_dense.hpp>
#include <mezzo/layers/core/embedding.hpp>
#include <mezzo/layers/core/identity.hpp>
#include <mezzo/layers/core/masking.hpp>
#include <mezzo/layers/core/position_embedding.hpp>
#include <mezzo/layers/core/reversible_embedding.hpp>
#include <mezzo/layers/core/rotary_embedding.hpp>
#include <mezzo/layers/core/sine_position_encoding.hpp>
#include <mezzo/layers/describe_shared.hpp>

namespace mezzo {

static void describe(Fields& fields, DenseOptions& options) {
  fields("units", options.units);
  fields("activation", options.activation);
  describe_kernel(fields, options);
}

static void describe(Fields& fields, EinsumDenseOptions& options) {
  fields("equation", options.equation);
  fields("output_shape", options.output_shape);
  fields("activation", options.activation);
  fields("bias_axes", options.bias_axes);
  fields("kernel_initializer", options.kernel_initializer);
  fields("bias_initializer", options.bias_initializer);
  fields("kernel_regularizer", options.kernel_regularizer);
  fields("bias_regularizer", options.bias_regularizer);
  fields("kernel_constraint", options.kernel_constraint);
  fields("bias_constraint", options.bias_constraint);
  fields("activity_regularizer", options.activity_regularizer);
}

static void describe(Fields& fields, EmbeddingOptions& options) {
  fields("input_dim", options.input_dim);
  fields("output_dim", options.output_dim);
  fields("embeddings_initializer", options.embeddings_initializer);
  fields("embeddings_regularizer", options.embeddings_regularizer);
  fields("embeddings_constraint", options.embeddings_constraint);
  fields("mask_zero", options.mask_zero);
}

static void describe(Fields&, IdentityOptions&) {}

static void describe(Fields& fields, MaskingOptions& options) { fields("mask_value", options.mask_value); }

static void describe(Fields& fields, PositionEmbeddingOptions& options) {
  fields("sequence_length", options.sequence_length);
  fields("initializer", options.initializer);
}

static void describe(Fields& fields, ReversibleEmbeddingOptions& options) {
  fields("input_dim", options.input_dim);
  fields("output_dim", options.output_dim);
  fields("tie_weights", options.tie_weights);
  fields("embeddings_initializer", options.embeddings_initializer);
  fields("embeddings_regularizer", options.embeddings_regularizer);
  fields("embeddings_constraint", options.embeddings_constraint);
  fields("reverse_dtype", options.reverse_dtype);
  fields("logit_soft_cap", options.logit_soft_cap);
}

static void describe(Fields& fields, RotaryEmbeddingOptions& options) {
  fields("max_wavelength", options.max_wavelength);
  fields("scaling_factor", options.scaling_factor);
  fields("rope_type", options.rope_type);
  fields("beta_fast", options.beta_fast);
  fields("beta_slow", options.beta_slow);
  fields("original_max_position_embeddings", options.original_max_position_embeddings);
  fields("truncate", options.truncate);
  fields("low_freq_factor", options.low_freq_factor);
  fields("high_freq_factor", options.high_freq_factor);
  fields("sequence_axis", options.sequence_axis);
  fields("feature_axis", options.feature_axis);
  fields("denominator_dim", options.denominator_dim);
}

static void describe(Fields& fields, SinePositionEncodingOptions& options) {
  fields("max_wavelength", options.max_wavelength);
}

static void describe(Fields& fields, TokenAndPositionEmbeddingOptions& options) {
  fields("vocabulary_size", options.vocabulary_size);
  fields("sequence_length", options.sequence_length);
  fields("embedding_dim", options.embedding_dim);
  fields("tie_weights", options.tie_weights);
  fields("embeddings_initializer", options.embeddings_initializer);
}

std::vector<detail::SavedClass<Layer>> core_layer_classes() {
  return {
      detail::saved_layer<Dense, DenseOptions>("Dense"),
      detail::saved_layer<EinsumDense, EinsumDenseOptions>("EinsumDense"),
      detail::saved_layer<Embedding, EmbeddingOptions>("Embedding"),
      detail::saved_layer<Identity, IdentityOptions>("Identity"),
      detail::saved_layer<Masking, MaskingOptions>("Masking"),
      detail::saved_layer<PositionEmbedding, PositionEmbeddingOptions>("PositionEmbedding"),
      detail::saved_layer<ReversibleEmbedding, ReversibleEmbeddingOptions>("ReversibleEmbedding"),
      detail::saved_layer<RotaryEmbedding, RotaryEmbeddingOptions>("RotaryEmbedding"),
      detail::saved_layer<SinePositionEncoding, SinePositionEncodingOptions>("SinePositionEncoding"),
      detail::saved_layer<TokenAndPositionEmbedding, TokenAndPositionEmbeddingOptions>("TokenAndPositionEmbedding")};
}

}  // namespace mezzo
