#pragma once
#include <cstdint>

#include <mezzo/core/api.hpp>
#include <mezzo/core/tensor.hpp>

namespace mezzo::image {

/// Rectangle in a picture, in pixels.
struct CropOptions {
  std::int64_t top = 0;     ///< first row
  std::int64_t left = 0;    ///< first column
  std::int64_t height = 0;  ///< number of rows. Required.
  std::int64_t width = 0;   ///< number of columns. Required.
};

/// Cuts a part out of a picture, uint8 (height, width, channels). Throws a DTypeError or ShapeError if `image` is not a
/// picture, a ValueError if the part has no pixels or does not lie in it.
MEZZO_API Tensor crop(const Tensor& image, const CropOptions& options);

/// Size of a part of a picture, in pixels.
struct CropSizeOptions {
  std::int64_t height = 0;  ///< Required.
  std::int64_t width = 0;   ///< Required.
};

/// Cuts out the middle of a picture. Half of an odd border is rounded to even, as in torchvision's `CenterCrop`. Throws
/// a ValueError if the picture is smaller; further errors are those of crop().
MEZZO_API Tensor center_crop(const Tensor& image, const CropSizeOptions& options);

/// Exchanges left and right. Errors are those of crop().
MEZZO_API Tensor horizontal_flip(const Tensor& image);

}  // namespace mezzo::image
