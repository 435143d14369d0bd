#pragma once
#include <string>

#include <mezzo/core/tensor.hpp>

namespace mezzo::image::detail {

// Throws unless `image` is uint8 (height, width, channels), all 1 or more.
inline void check_image(const Tensor& image, const std::string& where) {
  if (image.dtype() != DType::uint8) throw DTypeError(where + "an image must be uint8; got " + image.describe());
  if (image.shape().size() != 3 || image.size() == 0) {
    throw ShapeError(where + "an image must have shape (height, width, channels), none of them 0; got shape " +
                     to_string(image.shape()));
  }
}

// Throws unless a part of this size has pixels and fits.
inline void check_fits(const Tensor& image, std::int64_t height, std::int64_t width, const std::string& where) {
  const Shape& in = image.shape();
  if (height >= 1 && width >= 1 && height <= in[0] && width <= in[1]) return;
  throw ValueError(where + "height " + std::to_string(height) + " and width " + std::to_string(width) +
                   " must be 1 or more and fit; got an image of shape " + to_string(in));
}

}  // namespace mezzo::image::detail
