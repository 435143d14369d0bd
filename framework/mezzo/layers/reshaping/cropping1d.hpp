#pragma once
#include <mezzo/layers/reshaping/margins.hpp>

namespace mezzo {

/// Removes elements at the ends of the spatial axes of sequences (batch, steps, channels): `Cropping1D(1)`,
/// `Cropping1D({1, 2})`. Channels are last. A ShapeError for an input of another rank, one of unknown sizes, except the
/// batch, or one without elements left.
class MEZZO_API Cropping1D : public detail::SizesFirst<detail::CroppingLayer<1>> {
 public:
  using SizesFirst::SizesFirst;
};

using Cropping1DOptions = CroppingOptions;

}  // namespace mezzo
