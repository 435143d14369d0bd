#pragma once
#include <mezzo/layers/pooling/pooling.hpp>

namespace mezzo {

/// Maximum of each channel of volumes: (batch, depth, height, width, channels) becomes (batch, channels), or (batch, 1,
/// 1, 1, channels) with keepdims. Channels are last. A ShapeError for inputs of another rank.
class MEZZO_API GlobalMaxPooling3D : public detail::GlobalPoolingLayer<detail::Pooled::max, 3> {
 public:
  using GlobalPoolingLayer::GlobalPoolingLayer;
};

using GlobalMaxPooling3DOptions = GlobalPoolingOptions;
/// Keras' other name.
using GlobalMaxPool3D = GlobalMaxPooling3D;

}  // namespace mezzo
