#include <mezzo/layers/classes.hpp>

#include <mezzo/layers/convolutional/conv1d.hpp>
#include <mezzo/layers/convolutional/conv1d_transpose.hpp>
#include <mezzo/layers/convolutional/conv2d.hpp>
#include <mezzo/layers/convolutional/conv2d_transpose.hpp>
#include <mezzo/layers/convolutional/conv3d.hpp>
#include <mezzo/layers/convolutional/conv3d_transpose.hpp>
#include <mezzo/layers/convolutional/depthwise_conv1d.hpp>
#include <mezzo/layers/convolutional/depthwise_conv2d.hpp>
#include <mezzo/layers/convolutional/separable_conv1d.hpp>
#include <mezzo/layers/convolutional/separable_conv2d.hpp>
#include <mezzo/layers/describe_shared.hpp>
#include <mezzo/layers/pooling/adaptive_average_pooling1d.hpp>
#include <mezzo/layers/pooling/adaptive_average_pooling2d.hpp>
#include <mezzo/layers/pooling/adaptive_average_pooling3d.hpp>
#include <mezzo/layers/pooling/adaptive_max_pooling1d.hpp>
#include <mezzo/layers/pooling/adaptive_max_pooling2d.hpp>
#include <mezzo/layers/pooling/adaptive_max_pooling3d.hpp>
#include <mezzo/layers/pooling/average_pooling1d.hpp>
#include <mezzo/layers/pooling/average_pooling2d.hpp>
#include <mezzo/layers/pooling/average_pooling3d.hpp>
#include <mezzo/layers/pooling/global_average_pooling2d.hpp>
#include <mezzo/layers/pooling/global_average_pooling3d.hpp>
#include <mezzo/layers/pooling/global_max_pooling1d.hpp>
#include <mezzo/layers/pooling/global_max_pooling2d.hpp>
#include <mezzo/layers/pooling/global_max_pooling3d.hpp>
#include <mezzo/layers/pooling/max_pooling1d.hpp>
#include <mezzo/layers/pooling/max_pooling2d.hpp>
#include <mezzo/layers/pooling/max_pooling3d.hpp>
#include <mezzo/layers/reshaping/cropping1d.hpp>
#include <mezzo/layers/reshaping/cropping2d.hpp>
#include <mezzo/layers/reshaping/cropping3d.hpp>
#include <mezzo/layers/reshaping/repeat_vector.hpp>
#include <mezzo/layers/reshaping/up_sampling1d.hpp>
#include <mezzo/layers/reshaping/up_sampling2d.hpp>
#include <mezzo/layers/reshaping/up_sampling3d.hpp>
#include <mezzo/layers/reshaping/zero_padding1d.hpp>
#include <mezzo/layers/reshaping/zero_padding2d.hpp>
#include <mezzo/layers/reshaping/zero_padding3d.hpp>

namespace mezzo {

static void describe_margins(Fields& fields, const char* name, detail::Margins& margins) {
  Shape numbers = margins.numbers();
  fields(name, numbers);
  if (numbers != margins.numbers()) margins = detail::Margins::of(numbers);
}

/// Options of convolutions except those of the kernel and the bias.
template <class Options>
static void describe_conv(Fields& fields, Options& options) {
  fields("filters", options.filters);
  fields("kernel_size", options.kernel_size);
  fields("strides", options.strides);
  fields("padding", options.padding);
  fields("dilation_rate", options.dilation_rate);
  fields("groups", options.groups);
  fields("activation", options.activation);
}

static void describe(Fields& fields, ConvOptions& options) {
  describe_conv(fields, options);
  describe_kernel(fields, options);
}

static void describe(Fields& fields, Conv2DOptions& options) {
  describe_conv(fields, options);
  describe_kernel(fields, options);
}

static void describe(Fields& fields, ConvTransposeOptions& options) {
  fields("filters", options.filters);
  fields("kernel_size", options.kernel_size);
  fields("strides", options.strides);
  fields("padding", options.padding);
  fields("output_padding", options.output_padding);
  fields("dilation_rate", options.dilation_rate);
  fields("activation", options.activation);
  describe_kernel(fields, options);
}

static void describe(Fields& fields, DepthwiseConvOptions& options) {
  fields("kernel_size", options.kernel_size);
  fields("strides", options.strides);
  fields("padding", options.padding);
  fields("depth_multiplier", options.depth_multiplier);
  fields("dilation_rate", options.dilation_rate);
  fields("activation", options.activation);
  fields("use_bias", options.use_bias);
  fields("depthwise_initializer", options.depthwise_initializer);
  fields("bias_initializer", options.bias_initializer);
  fields("depthwise_regularizer", options.depthwise_regularizer);
  fields("bias_regularizer", options.bias_regularizer);
  fields("activity_regularizer", options.activity_regularizer);
  fields("depthwise_constraint", options.depthwise_constraint);
  fields("bias_constraint", options.bias_constraint);
}

static void describe(Fields& fields, SeparableConvOptions& options) {
  fields("filters", options.filters);
  fields("kernel_size", options.kernel_size);
  fields("strides", options.strides);
  fields("padding", options.padding);
  fields("dilation_rate", options.dilation_rate);
  fields("depth_multiplier", options.depth_multiplier);
  fields("activation", options.activation);
  fields("use_bias", options.use_bias);
  fields("depthwise_initializer", options.depthwise_initializer);
  fields("pointwise_initializer", options.pointwise_initializer);
  fields("bias_initializer", options.bias_initializer);
  fields("depthwise_regularizer", options.depthwise_regularizer);
  fields("pointwise_regularizer", options.pointwise_regularizer);
  fields("bias_regularizer", options.bias_regularizer);
  fields("activity_regularizer", options.activity_regularizer);
  fields("depthwise_constraint", options.depthwise_constraint);
  fields("pointwise_constraint", options.pointwise_constraint);
  fields("bias_constraint", options.bias_constraint);
}

template <class Options>
static void describe_pooling(Fields& fields, Options& options) {
  fields("pool_size", options.pool_size);
  fields("strides", options.strides);
  fields("padding", options.padding);
}

static void describe(Fields& fields, PoolingOptions& options) { describe_pooling(fields, options); }
static void describe(Fields& fields, AveragePooling2DOptions& options) { describe_pooling(fields, options); }
static void describe(Fields& fields, MaxPooling2DOptions& options) { describe_pooling(fields, options); }

static void describe(Fields& fields, GlobalPoolingOptions& options) { fields("keepdims", options.keepdims); }

static void describe(Fields& fields, AdaptivePoolingOptions& options) { fields("output_size", options.output_size); }

static void describe(Fields& fields, UpSamplingOptions& options) { fields("size", options.size); }

static void describe(Fields& fields, UpSampling2DOptions& options) {
  fields("size", options.size);
  fields("interpolation", options.interpolation);
}

static void describe(Fields& fields, ZeroPaddingOptions& options) {
  describe_margins(fields, "padding", options.padding);
}

static void describe(Fields& fields, CroppingOptions& options) {
  describe_margins(fields, "cropping", options.cropping);
}

static void describe(Fields& fields, Cropping2DOptions& options) {
  describe_margins(fields, "cropping", options.cropping);
}

static void describe(Fields& fields, RepeatVectorOptions& options) { fields("n", options.n); }

namespace {

template <class L, class Options>
detail::SavedClass<Layer> spatial(const char* name) {
  return detail::saved_class<L, Options, Layer>(name);
}

}  // namespace

std::vector<detail::SavedClass<Layer>> spatial_layer_classes() {
  return {spatial<Conv1D, ConvOptions>("Conv1D"),
          spatial<Conv2D, Conv2DOptions>("Conv2D"),
          spatial<Conv3D, ConvOptions>("Conv3D"),
          spatial<Conv1DTranspose, ConvTransposeOptions>("Conv1DTranspose"),
          spatial<Conv2DTranspose, ConvTransposeOptions>("Conv2DTranspose"),
          spatial<Conv3DTranspose, ConvTransposeOptions>("Conv3DTranspose"),
          spatial<DepthwiseConv1D, DepthwiseConvOptions>("DepthwiseConv1D"),
          spatial<DepthwiseConv2D, DepthwiseConvOptions>("DepthwiseConv2D"),
          spatial<SeparableConv1D, SeparableConvOptions>("SeparableConv1D"),
          spatial<SeparableConv2D, SeparableConvOptions>("SeparableConv2D"),
          spatial<AveragePooling1D, PoolingOptions>("AveragePooling1D"),
          spatial<AveragePooling2D, AveragePooling2DOptions>("AveragePooling2D"),
          spatial<AveragePooling3D, PoolingOptions>("AveragePooling3D"),
          spatial<MaxPooling1D, PoolingOptions>("MaxPooling1D"),
          spatial<MaxPooling2D, MaxPooling2DOptions>("MaxPooling2D"),
          spatial<MaxPooling3D, PoolingOptions>("MaxPooling3D"),
          spatial<GlobalAveragePooling2D, GlobalPoolingOptions>("GlobalAveragePooling2D"),
          spatial<GlobalAveragePooling3D, GlobalPoolingOptions>("GlobalAveragePooling3D"),
          spatial<GlobalMaxPooling1D, GlobalPoolingOptions>("GlobalMaxPooling1D"),
          spatial<GlobalMaxPooling2D, GlobalPoolingOptions>("GlobalMaxPooling2D"),
          spatial<GlobalMaxPooling3D, GlobalPoolingOptions>("GlobalMaxPooling3D"),
          spatial<AdaptiveAveragePooling1D, AdaptivePoolingOptions>("AdaptiveAveragePooling1D"),
          spatial<AdaptiveAveragePooling2D, AdaptivePoolingOptions>("AdaptiveAveragePooling2D"),
          spatial<AdaptiveAveragePooling3D, AdaptivePoolingOptions>("AdaptiveAveragePooling3D"),
          spatial<AdaptiveMaxPooling1D, AdaptivePoolingOptions>("AdaptiveMaxPooling1D"),
          spatial<AdaptiveMaxPooling2D, AdaptivePoolingOptions>("AdaptiveMaxPooling2D"),
          spatial<AdaptiveMaxPooling3D, AdaptivePoolingOptions>("AdaptiveMaxPooling3D"),
          spatial<UpSampling1D, UpSamplingOptions>("UpSampling1D"),
          spatial<UpSampling2D, UpSampling2DOptions>("UpSampling2D"),
          spatial<UpSampling3D, UpSamplingOptions>("UpSampling3D"),
          spatial<ZeroPadding1D, ZeroPaddingOptions>("ZeroPadding1D"),
          spatial<ZeroPadding2D, ZeroPaddingOptions>("ZeroPadding2D"),
          spatial<ZeroPadding3D, ZeroPaddingOptions>("ZeroPadding3D"),
          spatial<Cropping1D, CroppingOptions>("Cropping1D"),
          spatial<Cropping2D, Cropping2DOptions>("Cropping2D"),
          spatial<Cropping3D, CroppingOptions>("Cropping3D"),
          spatial<RepeatVector, RepeatVectorOptions>("RepeatVector")};
}

}  // namespace mezzo
