#pragma once
#include <mezzo/layers/pooling/pooling.hpp>

namespace mezzo {

struct AveragePooling2DOptions {
  detail::Named named{};                  ///< leave it out
  detail::Ints pool_size = 2;             ///< height and width of a window, one number for both; at least 1
  detail::Ints strides = detail::Ints();  ///< step between windows, one number or {height, width}; {}: pool_size
  detail::Padding padding = "valid";      ///< "valid" (none), "same", or numbers as in torch (pixels on either side)
  std::string name{};  ///< name of the layer; "": automatic ("average_pooling2d", "average_pooling2d_1")
  Policy dtype{};      ///< precision policy; default: the policy of the enclosing layer or model
};

namespace detail {
extern template class PoolingLayer<Pooled::average, 2>;
}

/// Mean of each window of images (batch, height, width, channels), accumulated in at least float32:
/// `AveragePooling2D(3)`, `AveragePooling2D({2, 3})`. Padding "same" is left out of the mean, as in Keras. Padding by
/// numbers counts as zeros, as in torch (count_include_pad). Channels are last (Keras' channels_last).
class MEZZO_API AveragePooling2D : public detail::SizesFirst<detail::PoolingLayer<detail::Pooled::average, 2>> {
 public:
  using SizesFirst::SizesFirst;
};

/// Keras' other name.
using AvgPool2D = AveragePooling2D;

}  // namespace mezzo
