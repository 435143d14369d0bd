#pragma once
#include <cstdint>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/core/tensor.hpp>

namespace mezzo::image {

struct ResizeOptions {
  /// Height of the result in pixels, 1 or more. Required.
  std::int64_t height = 0;
  /// Width of the result in pixels, 1 or more. Required.
  std::int64_t width = 0;
  /// "bilinear", "bicubic" (a = -0.5) or "nearest".
  std::string interpolation = "bilinear";
};

/// Resizes a picture, uint8 (height, width, channels). The result equals Pillow's `Image.resize` bit for bit, for
/// versions of Pillow that resample the width first (newer ones start with the height where it shrinks much more).
/// "bilinear" and "bicubic" widen their filters when they shrink, which avoids aliasing; "nearest" does not. Throws a
/// DTypeError or ShapeError if `image` is not a picture, a ValueError if an option is out of its range.
MEZZO_API Tensor resize(const Tensor& image, const ResizeOptions& options);

/// Resizes a picture so that the shorter side has `size` pixels and the longer one int(size * longer / shorter), as
/// torchvision's `Resize(size)`. Errors are those of resize().
MEZZO_API Tensor resize_shorter_side(const Tensor& image, std::int64_t size,
                                     const std::string& interpolation = "bilinear");

}  // namespace mezzo::image
