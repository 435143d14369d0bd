#pragma once
#include <mezzo/layers/pooling/pooling.hpp>

namespace mezzo {

/// Pools images (batch, height, width, channels) to a given size, as torch: `AdaptiveMaxPooling2D({7, 7})`. Along an
/// axis of size n that becomes o, output i is the maximum of the elements from floor(i n / o) up to, but without,
/// ceil((i + 1) n / o). Channels are last. A ShapeError for inputs of another rank or of unknown sizes, except the
/// batch.
class MEZZO_API AdaptiveMaxPooling2D : public detail::SizesFirst<detail::AdaptivePoolingLayer<detail::Pooled::max, 2>> {
 public:
  using SizesFirst::SizesFirst;
};

using AdaptiveMaxPooling2DOptions = AdaptivePoolingOptions;

}  // namespace mezzo
