#pragma once
#include <mezzo/layers/convolutional/separable_conv.hpp>

namespace mezzo {

/// A DepthwiseConv2D of images (batch, height, width, channels) without a bias, then a convolution with a kernel of
/// size 1: `SeparableConv2D(32, 3)`. Weights: depthwise_kernel (height, width, channels, depth_multiplier),
/// pointwise_kernel (1, 1, channels depth_multiplier, filters), bias (filters,); in weight files depthwise.weight,
/// pointwise.weight and pointwise.bias, as of two convolutions of torch. Channels are last. A ShapeError for inputs of
/// another rank or of unknown sizes, except the batch.
class MEZZO_API SeparableConv2D : public detail::FiltersFirst<detail::SeparableConvLayer<2>> {
 public:
  using FiltersFirst::FiltersFirst;
};

using SeparableConv2DOptions = SeparableConvOptions;
/// Keras' other name.
using SeparableConvolution2D = SeparableConv2D;

}  // namespace mezzo
