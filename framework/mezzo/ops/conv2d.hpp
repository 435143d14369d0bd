#pragma once
#include <cstdint>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/value.hpp>
#include <mezzo/ops/ints.hpp>
#include <mezzo/ops/padding.hpp>

namespace mezzo {

/// Options of conv2d, with Keras' names.
struct Conv2DOpOptions {
  detail::Ints strides = 1;           ///< step in pixels, for height and width
  detail::Padding padding = "valid";  ///< "valid", "same" or numbers of pixels (torch's symmetric padding)
  detail::Ints dilation_rate = 1;     ///< distance of kernel elements in pixels, for height and width
  std::int64_t groups = 1;            ///< divides input and output channels into groups that are convolved separately
};

/// Two-dimensional convolution of images (N, H, W, C) and a kernel (kh, kw, C / groups, F): (N, OH, OW, F).
MEZZO_API Value conv2d(const Value& x, const Value& kernel, const Conv2DOpOptions& options = {});

}  // namespace mezzo
