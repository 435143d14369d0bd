#pragma once
#include <mezzo/layers/convolutional/conv_transpose.hpp>

namespace mezzo {

/// Transposed convolution of volumes (batch, depth, height, width, channels): the gradient of a Conv3D for its input,
/// which makes volumes larger. With effective kernel k and stride s, a size n becomes n s ("same"), (n - 1) s + max(k,
/// s) ("valid"), or, with output_padding p, (n - 1) s + k % 2 + p ("same") and (n - 1) s + k + p ("valid"). Weights:
/// kernel (depth, height, width, filters, channels), bias (filters,). Channels are last. A ShapeError for inputs of
/// another rank or of unknown sizes, except the batch.
class MEZZO_API Conv3DTranspose : public detail::FiltersFirst<detail::ConvTransposeLayer<3>> {
 public:
  using FiltersFirst::FiltersFirst;
};

using Conv3DTransposeOptions = ConvTransposeOptions;
/// Keras' other name.
using Convolution3DTranspose = Conv3DTranspose;

}  // namespace mezzo
