#pragma once
#include <cstdint>

#include <mezzo/core/tensor.hpp>

namespace mezzo::image {

/// In pixels.
struct CropOptions {
  std::int64_t top = 0;
  std::int64_t left = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
};

/// Part of a picture, uint8 (height, width, channels). A ShapeError or DTypeError if it is no picture, a ValueError if
/// the part has no pixels or does not lie in it.
Tensor crop(const Tensor& image, const CropOptions& options);

struct CropSizeOptions {
  std::int64_t height = 0;
  std::int64_t width = 0;
};

/// The middle of a picture; where the border is odd, half of it is rounded to even, as torchvision's `CenterCrop` has
/// it. A ValueError if the picture is smaller.
Tensor center_crop(const Tensor& image, const CropSizeOptions& options);

/// Left and right exchanged.
Tensor horizontal_flip(const Tensor& image);

}  // namespace mezzo::image
