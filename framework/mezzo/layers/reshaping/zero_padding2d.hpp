#pragma once
#include <mezzo/layers/reshaping/margins.hpp>

namespace mezzo {

/// Adds zeros around images (batch, height, width, channels): `ZeroPadding2D(2)`, `ZeroPadding2D({{1, 0}, {2, 3}})`.
/// Channels are last. A ShapeError for an input of another rank or of unknown sizes that are padded.
class MEZZO_API ZeroPadding2D : public detail::SizesFirst<detail::ZeroPaddingLayer<2>> {
 public:
  using SizesFirst::SizesFirst;
};

using ZeroPadding2DOptions = ZeroPaddingOptions;

}  // namespace mezzo
