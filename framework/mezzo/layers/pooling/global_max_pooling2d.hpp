#pragma once
#include <mezzo/layers/pooling/pooling.hpp>

namespace mezzo {

/// Maximum of each channel of images: (batch, height, width, channels) becomes (batch, channels), or (batch, 1, 1,
/// channels) with keepdims. Channels are last. A ShapeError for inputs of another rank.
class MEZZO_API GlobalMaxPooling2D : public detail::GlobalPoolingLayer<detail::Pooled::max, 2> {
 public:
  using GlobalPoolingLayer::GlobalPoolingLayer;
};

using GlobalMaxPooling2DOptions = GlobalPoolingOptions;
/// Keras' other name.
using GlobalMaxPool2D = GlobalMaxPooling2D;

}  // namespace mezzo
