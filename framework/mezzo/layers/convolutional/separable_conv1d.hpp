#pragma once
#include <mezzo/layers/convolutional/separable_conv.hpp>

namespace mezzo {

/// A DepthwiseConv1D of sequences (batch, steps, channels) without a bias, then a convolution with a kernel of size 1:
/// `SeparableConv1D(32, 3)`. Weights: depthwise_kernel (steps, channels, depth_multiplier), pointwise_kernel (1,
/// channels depth_multiplier, filters), bias (filters,); in weight files depthwise.weight, pointwise.weight and
/// pointwise.bias, as of two convolutions of torch. Channels are last. A ShapeError for inputs of another rank or of
/// unknown sizes, except the batch.
class MEZZO_API SeparableConv1D : public detail::FiltersFirst<detail::SeparableConvLayer<1>> {
 public:
  using FiltersFirst::FiltersFirst;
};

using SeparableConv1DOptions = SeparableConvOptions;
/// Keras' other name.
using SeparableConvolution1D = SeparableConv1D;

}  // namespace mezzo
