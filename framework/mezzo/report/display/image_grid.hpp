#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/tensor.hpp>
#include <mezzo/io/file.hpp>
#include <mezzo/report/display/mime_bundle.hpp>

namespace mezzo {

/// Options of ImageGrid.
struct ImageGridOptions {
  std::int64_t columns = 8;             ///< images per row, 1 or more
  std::int64_t scale = 1;               ///< enlarges each pixel to scale x scale pixels; 1 or more
  std::int64_t gap = 4;                 ///< white pixels between neighbours, 0 or more
  std::vector<std::string> captions{};  ///< one per image, shown in SVG; {}: none
};

/// Images in a grid, for notebooks and files: `ImageGrid(x.slice(0, 16), {.scale = 2})`.
class MEZZO_API ImageGrid {
 public:
  /// `images` has shape (count, height, width, channels) with 1 or 3 channels, (count, height, width), or, as one image
  /// whose last axis is 1 or 3, (height, width, channels). Its dtype is uint8 or floating; floats are clipped to [0,
  /// 1], black to white, and NaN is black. A ShapeError or DTypeError for anything else. A ValueError if an option is
  /// out of range, if there are captions but not one per image, or if the picture would have more than 2^26 pixels.
  explicit ImageGrid(const Tensor& images, ImageGridOptions options = {});

  /// Pixels of png(), uint8 (height, width, channels).
  Tensor pixels() const;

  /// Bytes of a PNG file, without captions. An Error if mezzo was built without libpng.
  detail::Bytes png() const;

  /// Text of an SVG file, with captions below the images.
  std::string svg() const;

  /// image/png, with captions also image/svg+xml; text/plain has number, size and captions.
  MimeBundle mime() const;

 private:
  std::int64_t count() const { return images_.shape()[0]; }
  std::int64_t columns() const;
  std::int64_t rows() const;
  Tensor scaled(std::int64_t index) const;

  Tensor images_;  // uint8 (count, height, width, channels)
  ImageGridOptions options_;
};

}  // namespace mezzo
