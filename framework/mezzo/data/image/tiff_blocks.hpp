#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include <mezzo/data/image/tiff_layout.hpp>

namespace mezzo::image::detail {

/// Reads the strips or tiles of a TIFF file and gives the samples of rows in them.
class TiffBlocks {
 public:
  /// Throws a FileError if the size of a block is not that of its samples, or more than 64 MiB in tiles.
  TiffBlocks(const TiffFile& file, const TiffLayout& layout);

  std::int64_t width() const { return width_; }
  std::int64_t height() const { return height_; }

  /// Reads the block whose first pixel is at row y and column x. Throws a FileError if it is damaged.
  void read(std::int64_t y, std::int64_t x);

  /// Unpacks the first `count` pixels of a row of the block to layout.channels numbers each.
  void unpack(std::int64_t row, std::int64_t count, std::uint16_t* samples) const;

 private:
  void read_plane(std::int64_t y, std::int64_t x, std::uint16_t plane, std::vector<std::uint8_t>& to);
  std::uint16_t sample(const std::uint8_t* row, std::int64_t index) const;

  const TiffFile& file_;
  const TiffLayout& layout_;
  bool tiled_;
  std::int64_t width_, height_;
  std::int64_t row_bytes_;
  std::array<std::vector<std::uint8_t>, 4> planes_;  ///< the first one alone if samples are not separate
};

}  // namespace mezzo::image::detail
