#if MEZZO_WITH_TIFF
#include <mezzo/data/image/tiff_blocks.hpp>

#include <algorithm>
#include <cstring>

#include <mezzo/data/image/formats.hpp>

namespace mezzo::image::detail {

TiffBlocks::TiffBlocks(const TiffFile& file, const TiffLayout& layout)
    : file_(file), layout_(layout), tiled_(TIFFIsTiled(file.get()) != 0) {
  width_ = tiled_ ? file.large_number(TIFFTAG_TILEWIDTH, 0) : layout.width;
  height_ = tiled_ ? std::int64_t{file.large_number(TIFFTAG_TILELENGTH, 0)}
                   : std::min(layout.height, std::int64_t{file.large_number(TIFFTAG_ROWSPERSTRIP, UINT32_MAX)});
  const std::int64_t samples = layout.separate ? 1 : layout.samples;
  row_bytes_ = (width_ * samples * layout.bits + 7) / 8;
  constexpr std::int64_t most_bytes = std::int64_t{64} << 20;
  if (width_ < 1 || height_ < 1 || (tiled_ && height_ > most_bytes / row_bytes_)) {
    fail_decoding(file.name(), "tiles and strips of a TIFF file must have 1 byte to 64 MiB; got {} x {} pixels",
                  height_, width_);
  }
  const std::uint64_t bytes =
      tiled_ ? TIFFTileSize64(file.get()) : TIFFVStripSize64(file.get(), static_cast<std::uint32_t>(height_));
  if (bytes != static_cast<std::uint64_t>(row_bytes_ * height_)) file.refuse("the size of its strips is unknown");
}

void TiffBlocks::read(std::int64_t y, std::int64_t x) {
  const std::int64_t planes = layout_.separate ? layout_.channels : 1;
  for (std::int64_t plane = 0; plane < planes; ++plane) {
    read_plane(y, x, static_cast<std::uint16_t>(plane), planes_[static_cast<std::size_t>(plane)]);
  }
}

void TiffBlocks::read_plane(std::int64_t y, std::int64_t x, std::uint16_t plane, std::vector<std::uint8_t>& to) {
  const auto row = static_cast<std::uint32_t>(y), column = static_cast<std::uint32_t>(x);
  const std::int64_t rows = tiled_ ? height_ : std::min(height_, layout_.height - y);
  const std::int64_t bytes = rows * row_bytes_;
  to.resize(static_cast<std::size_t>(bytes));
  const std::int64_t got =
      tiled_ ? TIFFReadEncodedTile(file_.get(), TIFFComputeTile(file_.get(), column, row, 0, plane), to.data(), bytes)
             : TIFFReadEncodedStrip(file_.get(), TIFFComputeStrip(file_.get(), row, plane), to.data(), bytes);
  if (got != bytes) file_.refuse("its pixels end too early");
}

std::uint16_t TiffBlocks::sample(const std::uint8_t* row, std::int64_t index) const {
  if (layout_.bits == 8) return row[index];
  if (layout_.bits == 16) {  // in the order of this machine
    std::uint16_t value = 0;
    std::memcpy(&value, row + 2 * index, sizeof value);
    return value;
  }
  const auto bits = static_cast<unsigned>(layout_.bits);
  const auto bit = static_cast<std::size_t>(index) * bits;
  return static_cast<std::uint16_t>((row[bit / 8] >> (8 - bits - bit % 8)) & ((1U << bits) - 1));
}

void TiffBlocks::unpack(std::int64_t row, std::int64_t count, std::uint16_t* samples) const {
  for (std::int64_t c = 0; c < layout_.channels; ++c) {
    const std::uint8_t* const from =
        planes_[layout_.separate ? static_cast<std::size_t>(c) : 0].data() + row * row_bytes_;
    const std::int64_t step = layout_.separate ? 1 : layout_.samples;
    const std::int64_t first = layout_.separate ? 0 : c;
    for (std::int64_t x = 0; x < count; ++x) samples[x * layout_.channels + c] = sample(from, x * step + first);
  }
}

}  // namespace mezzo::image::detail
#endif
