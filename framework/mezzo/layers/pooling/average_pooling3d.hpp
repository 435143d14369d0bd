#pragma once
#include <mezzo/layers/pooling/pooling.hpp>

namespace mezzo {

/// Mean of each window of volumes (batch, depth, height, width, channels), accumulated in at least float32. Padding is
/// left out of the mean. Along each axis a size n becomes floor((n - pool_size) / strides) + 1 ("valid") or ceil(n /
/// strides) ("same"). `AveragePooling3D({1, 2, 2})`. Channels are last. A ShapeError for inputs of another rank or of
/// unknown sizes, except the batch.
class MEZZO_API AveragePooling3D : public detail::SizesFirst<detail::PoolingLayer<detail::Pooled::average, 3>> {
 public:
  using SizesFirst::SizesFirst;
};

using AveragePooling3DOptions = PoolingOptions;
/// Keras' other name.
using AvgPool3D = AveragePooling3D;

}  // namespace mezzo
