#pragma once
#include <mezzo/layers/pooling/pooling.hpp>

namespace mezzo {

/// Mean of each channel of images (Lin et al., 2013): (batch, height, width, channels) becomes (batch, channels), or
/// (batch, 1, 1, channels) with keepdims. Accumulated in at least float32. Channels are last. A ShapeError for inputs
/// of another rank.
class MEZZO_API GlobalAveragePooling2D : public detail::GlobalPoolingLayer<detail::Pooled::average, 2> {
 public:
  using GlobalPoolingLayer::GlobalPoolingLayer;
};

using GlobalAveragePooling2DOptions = GlobalPoolingOptions;
/// Keras' other name.
using GlobalAvgPool2D = GlobalAveragePooling2D;

}  // namespace mezzo
