#pragma once
#include <mezzo/layers/reshaping/up_sampling.hpp>

namespace mezzo {

/// Enlarges images (batch, height, width, channels) by whole factors: `UpSampling2D(2, {.interpolation = "bilinear"})`.
/// "nearest" repeats each pixel; other interpolations are those of image::resize. Channels are last. A ShapeError for
/// an input of another rank or of unknown sizes, except the batch.
class MEZZO_API UpSampling2D : public detail::SizesFirst<detail::UpSamplingLayer<2>> {
 public:
  using SizesFirst::SizesFirst;
};

}  // namespace mezzo
