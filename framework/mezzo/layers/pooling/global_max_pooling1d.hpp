#pragma once
#include <mezzo/layers/pooling/pooling.hpp>

namespace mezzo {

/// Maximum of each channel of sequences: (batch, steps, channels) becomes (batch, channels), or (batch, 1, channels)
/// with keepdims. Channels are last. A ShapeError for inputs of another rank.
class MEZZO_API GlobalMaxPooling1D : public detail::GlobalPoolingLayer<detail::Pooled::max, 1> {
 public:
  using GlobalPoolingLayer::GlobalPoolingLayer;
};

using GlobalMaxPooling1DOptions = GlobalPoolingOptions;
/// Keras' other name.
using GlobalMaxPool1D = GlobalMaxPooling1D;

}  // namespace mezzo
