#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include <mezzo/io/file.hpp>

namespace mezzo::image::detail {

/// Forms of the pixels in a BMP file, by the numbers in its header.
enum class BmpForm : std::uint32_t { plain = 0, rle8 = 1, rle4 = 2, masks = 3, masks_with_alpha = 6 };

/// Header of a BMP file, as Windows 2 to 5 and OS/2 write it.
struct BmpHeader {
  std::int64_t width = 0;
  std::int64_t height = 0;
  bool top_down = false;  ///< true: the first row of the file is the upper one
  std::int64_t bits = 0;  ///< bits a pixel: 1, 2, 4 or 8 with a palette, or 16, 24, 32
  BmpForm form = BmpForm::plain;
  std::array<std::uint32_t, 3> masks{};  ///< bits of red, green and blue in pixels of 16 and 32 bits
  std::size_t palette_at = 0;            ///< offset of the palette
  std::size_t palette_entry = 4;         ///< bytes of a color in it: blue, green, red, and in most files an unused one
  std::size_t colors = 0;                ///< number of its colors
  std::size_t pixels_at = 0;             ///< offset of the pixels
};

/// Reads and checks the header. Throws a FileError for forms that decode_image() doesn't read, a palette that the file
/// doesn't hold and an offset of the pixels behind its end.
BmpHeader read_bmp_header(const mezzo::detail::Bytes& bytes, const std::string& name);

/// Unpacks the runs of a file with BmpForm rle8 or rle4 to one index a pixel, the rows in the order of the file. Pixels
/// that the file leaves out have the index 0. Throws a FileError for pixels outside of the picture and for a file that
/// ends before its runs do.
mezzo::detail::Bytes read_bmp_runs(const mezzo::detail::Bytes& bytes, const BmpHeader& header, const std::string& name);

}  // namespace mezzo::image::detail
