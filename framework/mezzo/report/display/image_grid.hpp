#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/core/tensor.hpp>
#include <mezzo/io/file.hpp>
#include <mezzo/report/display/mime_bundle.hpp>

namespace mezzo {

struct ImageGridOptions {
  std::int64_t columns = 8;             ///< images in a row
  std::int64_t scale = 1;               ///< each pixel of an image becomes scale x scale
  std::int64_t gap = 4;                 ///< white pixels between neighbours
  std::vector<std::string> captions{};  ///< one an image, or none
};

/// Images side by side, as a notebook shows them: `ImageGrid(x.slice(0, 16), {.scale = 2})`.
class ImageGrid {
 public:
  /// `images`: (count, height, width, channels) of 1 or 3 channels, or (count, height, width), or one image (height,
  /// width, channels) where the last axis is 1 or 3; uint8, or floats of which 0 is black and 1 is white. What lies
  /// outside is cut off; NaN is black. A ShapeError or DTypeError for anything else, a ValueError if an option is out
  /// of range, the captions are not as many as the images, or they would have more than 2^26 pixels.
  explicit ImageGrid(const Tensor& images, ImageGridOptions options = {});

  /// The picture as it is in png(), uint8 (height, width, channels).
  Tensor pixels() const;

  /// A PNG file's bytes, without captions. An Error if mezzo was built without libpng.
  Bytes png() const;

  /// An SVG file's text: the images with captions below.
  std::string svg() const;

  /// image/png, with captions also image/svg+xml, and in text/plain what the images are.
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
