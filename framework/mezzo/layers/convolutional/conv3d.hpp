#pragma once
#include <mezzo/layers/convolutional/conv.hpp>

namespace mezzo {

/// Convolution of volumes (batch, depth, height, width, channels) with `filters` kernels: `Conv3D(32, {1, 3, 3},
/// {.strides = 2})`. Weights: kernel (depth, height, width, channels / groups, filters), bias (filters,). Channels are
/// last (Keras' channels_last). A ShapeError for inputs of another rank or of unknown sizes, except the batch.
class MEZZO_API Conv3D : public detail::FiltersFirst<detail::ConvLayer<3>> {
 public:
  using FiltersFirst::FiltersFirst;
};

using Conv3DOptions = ConvOptions;
/// Keras' other name.
using Convolution3D = Conv3D;

}  // namespace mezzo
