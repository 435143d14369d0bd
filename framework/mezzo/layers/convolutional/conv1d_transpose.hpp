#pragma once
#include <mezzo/layers/convolutional/conv_transpose.hpp>

namespace mezzo {

/// Transposed convolution of sequences (batch, steps, channels): the gradient of a Conv1D for its input, which makes
/// sequences larger. With effective kernel k and stride s, a size n becomes n s ("same"), (n - 1) s + max(k, s)
/// ("valid"), or, with output_padding p, (n - 1) s + k % 2 + p ("same") and (n - 1) s + k + p ("valid"). Weights:
/// kernel (steps, filters, channels), bias (filters,). Channels are last. A ShapeError for inputs of another rank or of
/// unknown sizes, except the batch.
class MEZZO_API Conv1DTranspose : public detail::FiltersFirst<detail::ConvTransposeLayer<1>> {
 public:
  using FiltersFirst::FiltersFirst;
};

using Conv1DTransposeOptions = ConvTransposeOptions;
/// Keras' other name.
using Convolution1DTranspose = Conv1DTranspose;

}  // namespace mezzo
