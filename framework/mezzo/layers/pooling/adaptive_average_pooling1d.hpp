#pragma once
#include <mezzo/layers/pooling/pooling.hpp>

namespace mezzo {

/// Pools sequences (batch, steps, channels) to a given size, as torch: `AdaptiveAveragePooling1D(4)`. Along an axis of
/// size n that becomes o, output i is the mean of the elements from floor(i n / o) up to, but without, ceil((i + 1) n /
/// o). Channels are last. A ShapeError for inputs of another rank or of unknown sizes, except the batch.
class MEZZO_API AdaptiveAveragePooling1D
    : public detail::SizesFirst<detail::AdaptivePoolingLayer<detail::Pooled::average, 1>> {
 public:
  using SizesFirst::SizesFirst;
};

using AdaptiveAveragePooling1DOptions = AdaptivePoolingOptions;

}  // namespace mezzo
