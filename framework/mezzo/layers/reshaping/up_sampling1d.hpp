#pragma once
#include <mezzo/layers/reshaping/up_sampling.hpp>

namespace mezzo {

/// Repeats each step of sequences (batch, steps, channels) `size` times: `UpSampling1D(3)`. Channels are last. A
/// ShapeError for an input of another rank or of unknown sizes, except the batch.
class MEZZO_API UpSampling1D : public detail::SizesFirst<detail::UpSamplingLayer<1>> {
 public:
  using SizesFirst::SizesFirst;
};

using UpSampling1DOptions = UpSamplingOptions;

}  // namespace mezzo
