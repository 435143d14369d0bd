#pragma once
#include <mezzo/layers/convolutional/conv.hpp>

namespace mezzo {

/// Convolution of sequences (batch, steps, channels) with `filters` kernels: `Conv1D(32, 3, {.padding = "causal"})`.
/// With padding "causal" an output depends on its step and earlier ones only (van den Oord et al., 2016). Weights:
/// kernel (steps, channels / groups, filters), bias (filters,). Channels are last (Keras' channels_last). A ShapeError
/// for inputs of another rank or of unknown sizes, except the batch.
class MEZZO_API Conv1D : public detail::FiltersFirst<detail::ConvLayer<1>> {
 public:
  using FiltersFirst::FiltersFirst;
};

using Conv1DOptions = ConvOptions;
/// Keras' other name.
using Convolution1D = Conv1D;

}  // namespace mezzo
