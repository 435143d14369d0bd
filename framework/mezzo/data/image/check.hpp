#pragma once
#include <string_view>

#include <mezzo/core/dtype.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/tensor.hpp>

namespace mezzo::image::detail {

/// Throws a DTypeError or ShapeError unless `image` is uint8 (height, width, channels) with all sizes 1 or more.
inline void check_image(const Tensor& image, std::string_view where) {
  if (image.dtype() != DType::uint8) fail<DTypeError>(where, "an image must be uint8; got {}", image);
  if (image.shape().size() != 3 || image.size() == 0) {
    fail<ShapeError>(where, "an image must have shape (height, width, channels), none of them 0; got shape {}",
                     image.shape());
  }
}

/// Throws a ValueError unless a part of this size has pixels and fits in the image.
inline void check_fits(const Tensor& image, std::int64_t height, std::int64_t width, std::string_view where) {
  const Shape& in = image.shape();
  if (height >= 1 && width >= 1 && height <= in[0] && width <= in[1]) return;
  fail<ValueError>(where, "height and width must be 1 or more and fit in an image of shape {}; got {} and {}", in,
                   height, width);
}

}  // namespace mezzo::image::detail
