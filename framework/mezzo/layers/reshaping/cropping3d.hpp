#pragma once
#include <mezzo/layers/reshaping/margins.hpp>

namespace mezzo {

/// Removes elements at the ends of the spatial axes of volumes (batch, depth, height, width, channels):
/// `Cropping3D(1)`, `Cropping3D({{1, 0}, {2, 3}, {0, 0}})`. Channels are last. A ShapeError for an input of another
/// rank, one of unknown sizes, except the batch, or one without elements left.
class MEZZO_API Cropping3D : public detail::SizesFirst<detail::CroppingLayer<3>> {
 public:
  using SizesFirst::SizesFirst;
};

using Cropping3DOptions = CroppingOptions;

}  // namespace mezzo
