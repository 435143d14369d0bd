#pragma once
#include <mezzo/layers/pooling/pooling.hpp>

namespace mezzo {

/// Mean of each window of sequences (batch, steps, channels), accumulated in at least float32. Padding is left out of
/// the mean. Along each axis a size n becomes floor((n - pool_size) / strides) + 1 ("valid") or ceil(n / strides)
/// ("same"). `AveragePooling1D(3, {.strides = 1})`. Channels are last. A ShapeError for inputs of another rank or of
/// unknown sizes, except the batch.
class MEZZO_API AveragePooling1D : public detail::SizesFirst<detail::PoolingLayer<detail::Pooled::average, 1>> {
 public:
  using SizesFirst::SizesFirst;
};

using AveragePooling1DOptions = PoolingOptions;
/// Keras' other name.
using AvgPool1D = AveragePooling1D;

}  // namespace mezzo
