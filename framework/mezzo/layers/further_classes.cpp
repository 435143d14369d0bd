#include <mezzo/layers/classes.hpp>

#include <mezzo/layers/describe_shared.hpp>
#include <mezzo/layers/einsum_dense.hpp>
#include <mezzo/layers/elu.hpp>
#include <mezzo/layers/identity.hpp>
#include <mezzo/layers/merging/dot.hpp>
#include <mezzo/layers/merging/merging.hpp>
#include <mezzo/layers/normalization/group_normalization.hpp>
#include <mezzo/layers/normalization/rms_normalization.hpp>
#include <mezzo/layers/normalization/spectral_normalization.hpp>
#include <mezzo/layers/normalization/unit_normalization.hpp>
#include <mezzo/layers/position_embedding.hpp>
#include <mezzo/layers/prelu.hpp>
#include <mezzo/layers/regularization/activity_regularization.hpp>
#include <mezzo/layers/regularization/noise.hpp>
#include <mezzo/layers/regularization/spatial_dropout.hpp>
#include <mezzo/layers/reversible_embedding.hpp>
#include <mezzo/layers/rotary_embedding.hpp>
#include <mezzo/layers/sine_position_encoding.hpp>

namespace mezzo {

static void describe(Fields& fields, ActivityRegularizationOptions& options) {
  fields("l1", options.l1);
  fields("l2", options.l2);
}

static void describe(Fields& fields, AlphaDropoutOptions& options) {
  fields("rate", options.rate);
  fields("noise_shape", options.noise_shape);
  fields("seed", options.seed);
}

static void describe(Fields& fields, DotOptions& options) {
  fields("axes", options.axes);
  fields("normalize", options.normalize);
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

static void describe(Fields& fields, ELUOptions& options) { fields("alpha", options.alpha); }

static void describe(Fields& fields, GaussianDropoutOptions& options) {
  fields("rate", options.rate);
  fields("seed", options.seed);
}

static void describe(Fields& fields, GaussianNoiseOptions& options) {
  fields("stddev", options.stddev);
  fields("seed", options.seed);
}

static void describe(Fields& fields, GroupNormalizationOptions& options) {
  fields("groups", options.groups);
  fields("axis", options.axis);
  fields("epsilon", options.epsilon);
  describe_scale(fields, options);
}

static void describe(Fields&, IdentityOptions&) {}

static void describe(Fields&, MergingOptions&) {}

static void describe(Fields& fields, PositionEmbeddingOptions& options) {
  fields("sequence_length", options.sequence_length);
  fields("initializer", options.initializer);
}

static void describe(Fields& fields, PReLUOptions& options) {
  fields("alpha_initializer", options.alpha_initializer);
  fields("alpha_regularizer", options.alpha_regularizer);
  fields("alpha_constraint", options.alpha_constraint);
  fields("shared_axes", options.shared_axes);
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

static void describe(Fields& fields, RMSNormalizationOptions& options) {
  fields("axis", options.axis);
  fields("epsilon", options.epsilon);
}

static void describe(Fields& fields, RotaryEmbeddingOptions& options) {
  fields("max_wavelength", options.max_wavelength);
  fields("scaling_factor", options.scaling_factor);
  fields("rope_type", options.rope_type);
  fields("beta_fast", options.beta_fast);
  fields("beta_slow", options.beta_slow);
  fields("original_max_position_embeddings", options.original_max_position_embeddings);
  fields("truncate", options.truncate);
  fields("sequence_axis", options.sequence_axis);
  fields("feature_axis", options.feature_axis);
  fields("denominator_dim", options.denominator_dim);
}

static void describe(Fields& fields, SinePositionEncodingOptions& options) {
  fields("max_wavelength", options.max_wavelength);
}

static void describe(Fields& fields, SpatialDropoutOptions& options) {
  fields("rate", options.rate);
  fields("seed", options.seed);
}

static void describe(Fields& fields, SpectralNormalizationOptions& options) {
  fields("layer", options.layer);
  fields("power_iterations", options.power_iterations);
}

static void describe(Fields& fields, TokenAndPositionEmbeddingOptions& options) {
  fields("vocabulary_size", options.vocabulary_size);
  fields("sequence_length", options.sequence_length);
  fields("embedding_dim", options.embedding_dim);
  fields("tie_weights", options.tie_weights);
  fields("embeddings_initializer", options.embeddings_initializer);
}

static void describe(Fields& fields, UnitNormalizationOptions& options) { fields("axis", options.axis); }

namespace {

template <class L, class Options>
detail::SavedClass<Layer> entry_of(const char* name) {
  return detail::saved_class<L, Options, Layer>(name);
}

}  // namespace

std::vector<detail::SavedClass<Layer>> further_layer_classes() {
  return {entry_of<ActivityRegularization, ActivityRegularizationOptions>("ActivityRegularization"),
          entry_of<AlphaDropout, AlphaDropoutOptions>("AlphaDropout"),
          entry_of<Average, MergingOptions>("Average"),
          entry_of<Dot, DotOptions>("Dot"),
          entry_of<ELU, ELUOptions>("ELU"),
          entry_of<EinsumDense, EinsumDenseOptions>("EinsumDense"),
          entry_of<GaussianDropout, GaussianDropoutOptions>("GaussianDropout"),
          entry_of<GaussianNoise, GaussianNoiseOptions>("GaussianNoise"),
          entry_of<GroupNormalization, GroupNormalizationOptions>("GroupNormalization"),
          entry_of<Identity, IdentityOptions>("Identity"),
          entry_of<Maximum, MergingOptions>("Maximum"),
          entry_of<Minimum, MergingOptions>("Minimum"),
          entry_of<PReLU, PReLUOptions>("PReLU"),
          entry_of<PositionEmbedding, PositionEmbeddingOptions>("PositionEmbedding"),
          entry_of<RMSNormalization, RMSNormalizationOptions>("RMSNormalization"),
          entry_of<ReversibleEmbedding, ReversibleEmbeddingOptions>("ReversibleEmbedding"),
          entry_of<RotaryEmbedding, RotaryEmbeddingOptions>("RotaryEmbedding"),
          entry_of<SinePositionEncoding, SinePositionEncodingOptions>("SinePositionEncoding"),
          entry_of<SpatialDropout1D, SpatialDropoutOptions>("SpatialDropout1D"),
          entry_of<SpatialDropout2D, SpatialDropoutOptions>("SpatialDropout2D"),
          entry_of<SpatialDropout3D, SpatialDropoutOptions>("SpatialDropout3D"),
          entry_of<SpectralNormalization, SpectralNormalizationOptions>("SpectralNormalization"),
          entry_of<Subtract, MergingOptions>("Subtract"),
          entry_of<TokenAndPositionEmbedding, TokenAndPositionEmbeddingOptions>("TokenAndPositionEmbedding"),
          entry_of<UnitNormalization, UnitNormalizationOptions>("UnitNormalization")};
}

}  // namespace mezzo
