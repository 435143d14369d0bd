#pragma once
#include <mezzo/layers/pooling/pooling.hpp>

namespace mezzo {

/// Pools volumes (batch, depth, height, width, channels) to a given size, as torch: `AdaptiveMaxPooling3D({2, 4, 4})`.
/// Along an axis of size n that becomes o, output i is the maximum of the elements from floor(i n / o) up to, but
/// without, ceil((i + 1) n / o). Channels are last. A ShapeError for inputs of another rank or of unknown sizes, except
/// the batch.
class MEZZO_API AdaptiveMaxPooling3D : public detail::SizesFirst<detail::AdaptivePoolingLayer<detail::Pooled::max, 3>> {
 public:
  using SizesFirst::SizesFirst;
};

using AdaptiveMaxPooling3DOptions = AdaptivePoolingOptions;

}  // namespace mezzo
