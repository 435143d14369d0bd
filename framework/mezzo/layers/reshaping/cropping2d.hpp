#pragma once
#include <mezzo/layers/reshaping/margins.hpp>

namespace mezzo {

/// Removes elements at the ends of the spatial axes of images (batch, height, width, channels): `Cropping2D(1)`,
/// `Cropping2D({{1, 0}, {2, 3}})`. Channels are last. A ShapeError for an input of another rank, one of unknown sizes,
/// except the batch, or one without elements left.
class MEZZO_API Cropping2D : public detail::SizesFirst<detail::CroppingLayer<2>> {
 public:
  using SizesFirst::SizesFirst;
};

}  // namespace mezzo
