#pragma once
#include <mezzo/layers/reshaping/margins.hpp>

namespace mezzo {

/// Adds zeros around sequences (batch, steps, channels): `ZeroPadding1D(2)`, `ZeroPadding1D({1, 2})`. Channels are
/// last. A ShapeError for an input of another rank or of unknown sizes that are padded.
class MEZZO_API ZeroPadding1D : public detail::SizesFirst<detail::ZeroPaddingLayer<1>> {
 public:
  using SizesFirst::SizesFirst;
};

using ZeroPadding1DOptions = ZeroPaddingOptions;

}  // namespace mezzo
