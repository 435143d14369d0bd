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

namespace mezzo {

/// Options of convolutions but for those of the kernel and the bias.
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

std::vector<detail::SavedClass<Layer>> convolutional_layer_classes() {
  return {detail::saved_layer<Conv1D, ConvOptions>("Conv1D"),
          detail::saved_layer<Conv1DTranspose, ConvTransposeOptions>("Conv1DTranspose"),
          detail::saved_layer<Conv2D, Conv2DOptions>("Conv2D"),
          detail::saved_layer<Conv2DTranspose, ConvTransposeOptions>("Conv2DTranspose"),
          detail::saved_layer<Conv3D, ConvOptions>("Conv3D"),
          detail::saved_layer<Conv3DTranspose, ConvTransposeOptions>("Conv3DTranspose"),
          detail::saved_layer<DepthwiseConv1D, DepthwiseConvOptions>("DepthwiseConv1D"),
          detail::saved_layer<DepthwiseConv2D, DepthwiseConvOptions>("DepthwiseConv2D"),
          detail::saved_layer<SeparableConv1D, SeparableConvOptions>("SeparableConv1D"),
          detail::saved_layer<SeparableConv2D, SeparableConvOptions>("SeparableConv2D")};
}

}  // namespace mezzo
