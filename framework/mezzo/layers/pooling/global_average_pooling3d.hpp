#pragma once
#include <mezzo/layers/pooling/pooling.hpp>

namespace mezzo {

/// Mean of each channel of volumes: (batch, depth, height, width, channels) becomes (batch, channels), or (batch, 1, 1,
/// 1, channels) with keepdims. Accumulated in at least float32. Channels are last. A ShapeError for inputs of another
/// rank.
class MEZZO_API GlobalAveragePooling3D : public detail::GlobalPoolingLayer<detail::Pooled::average, 3> {
 public:
  using GlobalPoolingLayer::GlobalPoolingLayer;
};

using GlobalAveragePooling3DOptions = GlobalPoolingOptions;
/// Keras' other name.
using GlobalAvgPool3D = GlobalAveragePooling3D;

}  // namespace mezzo
