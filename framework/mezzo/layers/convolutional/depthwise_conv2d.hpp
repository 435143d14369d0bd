#pragma once
#include <mezzo/layers/convolutional/depthwise_conv.hpp>

namespace mezzo {

/// Convolution of each channel of images (batch, height, width, channels) by `depth_multiplier` kernels of its own:
/// `DepthwiseConv2D(3, {.padding = "same"})`. The output has channels depth_multiplier channels, those of the first
/// input channel first. Weights: kernel (height, width, channels, depth_multiplier), bias (channels depth_multiplier,).
/// Weight files have torch's shape of a convolution with one group for each channel. Channels are last. A ShapeError
/// for inputs of another rank or of unknown sizes, except the batch.
class MEZZO_API DepthwiseConv2D : public detail::SizesFirst<detail::DepthwiseConvLayer<2>> {
 public:
  using SizesFirst::SizesFirst;
};

using DepthwiseConv2DOptions = DepthwiseConvOptions;

}  // namespace mezzo
