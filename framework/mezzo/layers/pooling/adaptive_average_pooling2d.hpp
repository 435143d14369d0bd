#pragma once
#include <mezzo/layers/pooling/pooling.hpp>

namespace mezzo {

/// Pools images (batch, height, width, channels) to a given size, as torch: `AdaptiveAveragePooling2D({7, 7})`. Along
/// an axis of size n that becomes o, output i is the mean of the elements from floor(i n / o) up to, but without,
/// ceil((i + 1) n / o). Channels are last. A ShapeError for inputs of another rank or of unknown sizes, except the
/// batch.
class MEZZO_API AdaptiveAveragePooling2D
    : public detail::SizesFirst<detail::AdaptivePoolingLayer<detail::Pooled::average, 2>> {
 public:
  using SizesFirst::SizesFirst;
};

using AdaptiveAveragePooling2DOptions = AdaptivePoolingOptions;

}  // namespace mezzo
