#pragma once
#include <cstdint>

#include <mezzo/data/image/tiff_file.hpp>

namespace mezzo::image::detail {

/// Meaning of a picture's samples.
enum class TiffColors { gray, inverted_gray, palette, rgb, cmyk, other };

/// Form of the pixels in a TIFF file.
struct TiffLayout {
  std::int64_t width = 0, height = 0;
  std::int64_t bits = 0;      ///< bits of a sample: 1, 2, 4, 8 or 16
  std::int64_t samples = 0;   ///< samples of a pixel in the file
  std::int64_t channels = 0;  ///< those of them that have colors, the first ones
  bool separate = false;      ///< true: each sample has planes of its own
  TiffColors colors = TiffColors::other;
};

/// Reads and checks the layout of the first picture. Throws a FileError if decode_image() doesn't read it.
TiffLayout read_tiff_layout(const TiffFile& file);

}  // namespace mezzo::image::detail
