#pragma once
#include <mezzo/layers/pooling/pooling.hpp>

namespace mezzo {

struct MaxPooling2DOptions {
  detail::Named named{};                  ///< leave it out
  detail::Ints pool_size = 2;             ///< height and width of a window, one number for both; at least 1
  detail::Ints strides = detail::Ints();  ///< step between windows, one number or {height, width}; {}: pool_size
  detail::Padding padding = "valid";      ///< "valid" (none), "same", or numbers as in torch (pixels on either side)
  std::string name{};                     ///< name of the layer; "": automatic ("max_pooling2d", "max_pooling2d_1")
  Policy dtype{};                         ///< precision policy; default: the policy of the enclosing layer or model
};

namespace detail {
extern template class PoolingLayer<Pooled::max, 2>;
}

/// Maximum of each window of images (batch, height, width, channels): `MaxPooling2D(3)`, `MaxPooling2D({2, 3})`.
/// Padding counts as -infinity. Channels are last (Keras' channels_last).
class MEZZO_API MaxPooling2D : public detail::SizesFirst<detail::PoolingLayer<detail::Pooled::max, 2>> {
 public:
  using SizesFirst::SizesFirst;
};

/// Keras' other name.
using MaxPool2D = MaxPooling2D;

}  // namespace mezzo
