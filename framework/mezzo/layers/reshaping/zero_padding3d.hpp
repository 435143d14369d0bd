#pragma once
#include <mezzo/layers/reshaping/margins.hpp>

namespace mezzo {

/// Adds zeros around volumes (batch, depth, height, width, channels): `ZeroPadding3D(2)`, `ZeroPadding3D({{1, 0}, {2,
/// 3}, {0, 0}})`. Channels are last. A ShapeError for an input of another rank or of unknown sizes that are padded.
class MEZZO_API ZeroPadding3D : public detail::SizesFirst<detail::ZeroPaddingLayer<3>> {
 public:
  using SizesFirst::SizesFirst;
};

using ZeroPadding3DOptions = ZeroPaddingOptions;

}  // namespace mezzo
