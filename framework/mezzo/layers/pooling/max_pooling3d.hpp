#pragma once
#include <mezzo/layers/pooling/pooling.hpp>

namespace mezzo {

/// Maximum of each window of volumes (batch, depth, height, width, channels). Padding counts as -infinity. Along each
/// axis a size n becomes floor((n - pool_size) / strides) + 1 ("valid") or ceil(n / strides) ("same").
/// `MaxPooling3D({1, 2, 2})`. Channels are last. A ShapeError for inputs of another rank or of unknown sizes, except
/// the batch.
class MEZZO_API MaxPooling3D : public detail::SizesFirst<detail::PoolingLayer<detail::Pooled::max, 3>> {
 public:
  using SizesFirst::SizesFirst;
};

using MaxPooling3DOptions = PoolingOptions;
/// Keras' other name.
using MaxPool3D = MaxPooling3D;

}  // namespace mezzo
