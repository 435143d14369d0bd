#include <mezzo/layers/classes.hpp>

#include <mezzo/layers/activation.hpp>
#include <mezzo/layers/dense.hpp>
#include <mezzo/layers/describe_shared.hpp>
#include <mezzo/layers/embedding.hpp>
#include <mezzo/layers/gelu.hpp>
#include <mezzo/layers/leaky_relu.hpp>
#include <mezzo/layers/merging/add.hpp>
#include <mezzo/layers/merging/concatenate.hpp>
#include <mezzo/layers/merging/multiply.hpp>
#include <mezzo/layers/normalization/batch_normalization.hpp>
#include <mezzo/layers/normalization/layer_normalization.hpp>
#include <mezzo/layers/pooling/global_average_pooling1d.hpp>
#include <mezzo/layers/preprocessing/rescaling.hpp>
#include <mezzo/layers/regularization/dropout.hpp>
#include <mezzo/layers/relu.hpp>
#include <mezzo/layers/reshaping/flatten.hpp>
#include <mezzo/layers/reshaping/permute.hpp>
#include <mezzo/layers/reshaping/reshape.hpp>
#include <mezzo/layers/softmax.hpp>

namespace mezzo {

static void describe(Fields& fields, ActivationOptions& options) { fields("activation", options.activation); }

static void describe(Fields&, AddOptions&) {}

static void describe(Fields& fields, BatchNormalizationOptions& options) {
  fields("axis", options.axis);
  fields("momentum", options.momentum);
  fields("epsilon", options.epsilon);
  fields("moving_mean_initializer", options.moving_mean_initializer);
  fields("moving_variance_initializer", options.moving_variance_initializer);
  describe_scale(fields, options);
  fields("synchronized", options.synchronized);
}

static void describe(Fields& fields, ConcatenateOptions& options) { fields("axis", options.axis); }

static void describe(Fields& fields, DenseOptions& options) {
  fields("units", options.units);
  fields("activation", options.activation);
  describe_kernel(fields, options);
}

static void describe(Fields& fields, DropoutOptions& options) {
  fields("rate", options.rate);
  fields("noise_shape", options.noise_shape);
  fields("seed", options.seed);
}

static void describe(Fields& fields, EmbeddingOptions& options) {
  fields("input_dim", options.input_dim);
  fields("output_dim", options.output_dim);
  fields("embeddings_initializer", options.embeddings_initializer);
  fields("embeddings_regularizer", options.embeddings_regularizer);
  fields("embeddings_constraint", options.embeddings_constraint);
  fields("mask_zero", options.mask_zero);
}

static void describe(Fields&, FlattenOptions&) {}

static void describe(Fields& fields, GELUOptions& options) { fields("approximate", options.approximate); }

static void describe(Fields& fields, GlobalAveragePooling1DOptions& options) { fields("keepdims", options.keepdims); }

static void describe(Fields& fields, LayerNormalizationOptions& options) {
  fields("axis", options.axis);
  fields("epsilon", options.epsilon);
  describe_scale(fields, options);
}

static void describe(Fields& fields, LeakyReLUOptions& options) { fields("negative_slope", options.negative_slope); }

static void describe(Fields&, MultiplyOptions&) {}

static void describe(Fields& fields, PermuteOptions& options) { fields("dims", options.dims); }

static void describe(Fields& fields, ReLUOptions& options) {
  fields("max_value", options.max_value);
  fields("negative_slope", options.negative_slope);
  fields("threshold", options.threshold);
}

static void describe(Fields& fields, RescalingOptions& options) {
  fields("scale", options.scale);
  fields("offset", options.offset);
}

static void describe(Fields& fields, ReshapeOptions& options) { fields("target_shape", options.target_shape); }

static void describe(Fields& fields, SoftmaxOptions& options) { fields("axis", options.axis); }

namespace {

template <class L, class Options>
detail::SavedClass<Layer> saved(const char* name) {
  return detail::saved_class<L, Options, Layer>(name);
}

}  // namespace

std::vector<detail::SavedClass<Layer>> layer_classes() {
  std::vector<detail::SavedClass<Layer>> all{
      saved<Activation, ActivationOptions>("Activation"),
      saved<Add, AddOptions>("Add"),
      saved<BatchNormalization, BatchNormalizationOptions>("BatchNormalization"),
      saved<Concatenate, ConcatenateOptions>("Concatenate"),
      saved<Dense, DenseOptions>("Dense"),
      saved<Dropout, DropoutOptions>("Dropout"),
      saved<Embedding, EmbeddingOptions>("Embedding"),
      saved<Flatten, FlattenOptions>("Flatten"),
      saved<GELU, GELUOptions>("GELU"),
      saved<GlobalAveragePooling1D, GlobalAveragePooling1DOptions>("GlobalAveragePooling1D"),
      saved<LayerNormalization, LayerNormalizationOptions>("LayerNormalization"),
      saved<LeakyReLU, LeakyReLUOptions>("LeakyReLU"),
      saved<Multiply, MultiplyOptions>("Multiply"),
      saved<Permute, PermuteOptions>("Permute"),
      saved<ReLU, ReLUOptions>("ReLU"),
      saved<Rescaling, RescalingOptions>("Rescaling"),
      saved<Reshape, ReshapeOptions>("Reshape"),
      saved<Softmax, SoftmaxOptions>("Softmax")};
  for (const auto& family : {attention_classes(), further_layer_classes(), image_layer_classes(),
                             preprocessing_classes(), recurrent_layer_classes(), spatial_layer_classes()}) {
    all.insert(all.end(), family.begin(), family.end());
  }
  return all;
}

}  // namespace mezzo
