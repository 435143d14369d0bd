#pragma once
#include <mezzo/layers/pooling/pooling.hpp>

namespace mezzo {

/// Maximum of each window of sequences (batch, steps, channels). Padding counts as -infinity. Along each axis a size n
/// becomes floor((n - pool_size) / strides) + 1 ("valid") or ceil(n / strides) ("same"). `MaxPooling1D(3, {.strides =
/// 1})`. Channels are last. A ShapeError for inputs of another rank or of unknown sizes, except the batch.
class MEZZO_API MaxPooling1D : public detail::SizesFirst<detail::PoolingLayer<detail::Pooled::max, 1>> {
 public:
  using SizesFirst::SizesFirst;
};

using MaxPooling1DOptions = PoolingOptions;
/// Keras' other name.
using MaxPool1D = MaxPooling1D;

}  // namespace mezzo
