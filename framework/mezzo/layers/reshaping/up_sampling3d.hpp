#pragma once
#include <mezzo/layers/reshaping/up_sampling.hpp>

namespace mezzo {

/// Repeats each element of volumes (batch, depth, height, width, channels) along the spatial axes: `UpSampling3D({1, 2,
/// 2})`. Channels are last. A ShapeError for an input of another rank or of unknown sizes, except the batch.
class MEZZO_API UpSampling3D : public detail::SizesFirst<detail::UpSamplingLayer<3>> {
 public:
  using SizesFirst::SizesFirst;
};

using UpSampling3DOptions = UpSamplingOptions;

}  // namespace mezzo
