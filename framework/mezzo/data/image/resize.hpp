#pragma once
#include <cstdint>
#include <string>

#include <mezzo/core/tensor.hpp>

namespace mezzo::image {

struct ResizeOptions {
  /// In pixels, 1 or more.
  std::int64_t height = 0;
  std::int64_t width = 0;
  /// "bilinear", "bicubic" (a = -0.5) or "nearest".
  std::string interpolation = "bilinear";
};

/// A picture, uint8 (height, width, channels), in another size; bit for bit Pillow's `Image.resize`, as long as
/// that takes the width first (newer versions take the height first where it shrinks much more). Where it gets smaller,
/// the filters are as wide as the pixels that become one, so that nothing aliases (not so for "nearest"). A ShapeError
/// or DTypeError if it is no picture, a ValueError if an option is out of its range.
Tensor resize(const Tensor& image, const ResizeOptions& options);

/// So that the shorter side has `size` pixels and the longer int(size * longer / shorter), as torchvision's
/// `Resize(size)` has it.
Tensor resize_shorter_side(const Tensor& image, std::int64_t size, const std::string& interpolation = "bilinear");

}  // namespace mezzo::image
