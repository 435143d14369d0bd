#include <array>
#include <bit>

#include <mezzo/data/image/bmp_header.hpp>
#include <mezzo/data/image/formats.hpp>

namespace mezzo::image::detail {
namespace {

/// Bytes of a row of plain pixels, filled up to a multiple of four.
std::int64_t row_bytes(const BmpHeader& header) { return (header.width * header.bits + 31) / 32 * 4; }

/// Throws a FileError if the file is too short for its rows. The last one may lack the bytes that fill it up.
void check_rows(const mezzo::detail::Bytes& bytes, const BmpHeader& header, const std::string& name) {
  const std::int64_t least = static_cast<std::int64_t>(header.pixels_at) + (header.height - 1) * row_bytes(header) +
                             (header.width * header.bits + 7) / 8;
  if (static_cast<std::int64_t>(bytes.size()) < least) {
    fail_decoding(name, "a BMP file of {} x {} pixels must have at least {} bytes; got {}", header.height, header.width,
                  least, bytes.size());
  }
}

/// A channel of a pixel as 8 bits. More than 8 bits keep their upper ones.
std::uint8_t channel(std::uint32_t pixel, std::uint32_t mask) {
  if (mask == 0) return 0;
  const std::uint32_t shifted = mask >> static_cast<unsigned>(std::countr_zero(mask));
  const std::uint32_t value = (pixel & mask) >> static_cast<unsigned>(std::countr_zero(mask));
  const int bits = std::popcount(shifted);
  return static_cast<std::uint8_t>(bits > 8 ? value >> static_cast<unsigned>(bits - 8) : value * 255 / shifted);
}

/// Colors of the palette.
class Colors {
 public:
  Colors(const mezzo::detail::Bytes& bytes, const BmpHeader& header, const std::string& name)
      : bytes_(bytes), header_(header), name_(name) {}

  void look_up(std::uint32_t index, std::uint8_t* rgb) const {
    if (index >= header_.colors) {
      fail_decoding(name_, "a pixel's color must be below {}; got {}", header_.colors, index);
    }
    const std::uint8_t* const color = bytes_.data() + header_.palette_at + index * header_.palette_entry;
    for (std::size_t c = 0; c < 3; ++c) rgb[c] = color[2 - c];
  }

 private:
  const mezzo::detail::Bytes& bytes_;
  const BmpHeader& header_;
  const std::string& name_;
};

void convert_row(const std::uint8_t* row, const BmpHeader& header, const Colors& colors, std::uint8_t* rgb) {
  const auto bits = static_cast<unsigned>(header.bits);
  for (std::int64_t x = 0; x < header.width; ++x, rgb += 3) {
    if (bits <= 8) {
      const auto bit = static_cast<std::size_t>(x) * bits;
      colors.look_up((row[bit / 8] >> (8 - bits - bit % 8)) & ((1U << bits) - 1), rgb);
    } else if (bits == 24) {
      for (std::int64_t c = 0; c < 3; ++c) rgb[c] = row[3 * x + 2 - c];
    } else {
      const std::size_t bytes = bits / 8;
      const auto pixel =
          static_cast<std::uint32_t>(mezzo::detail::little_endian(row + static_cast<std::size_t>(x) * bytes, bytes));
      for (std::size_t c = 0; c < 3; ++c) rgb[c] = channel(pixel, header.masks[c]);
    }
  }
}

}  // namespace

bool is_bmp(const mezzo::detail::Bytes& bytes) {
  // Two letters alone would claim texts. The size of the second header tells the version.
  if (bytes.size() < 18 || bytes[0] != 'B' || bytes[1] != 'M') return false;
  const std::uint64_t size = mezzo::detail::little_endian(bytes.data() + 14, 4);
  return size == 12 || size == 40 || size == 52 || size == 56 || size == 64 || size == 108 || size == 124;
}

Tensor decode_bmp(const mezzo::detail::Bytes& bytes, const std::string& name, const DecodeOptions& options) {
  const BmpHeader header = read_bmp_header(bytes, name);
  check_size(header.height, header.width, name, options);
  const bool in_runs = header.form == BmpForm::rle8 || header.form == BmpForm::rle4;
  if (!in_runs) check_rows(bytes, header, name);
  const Colors colors(bytes, header, name);
  const mezzo::detail::Bytes indices = in_runs ? read_bmp_runs(bytes, header, name) : mezzo::detail::Bytes();
  Tensor out = Tensor::uninitialized({header.height, header.width, 3}, DType::uint8);
  for (std::int64_t y = 0; y < header.height; ++y) {
    const std::int64_t row = header.top_down ? y : header.height - 1 - y;
    std::uint8_t* const rgb = out.mutable_data<std::uint8_t>() + y * header.width * 3;
    if (in_runs) {
      for (std::int64_t x = 0; x < header.width; ++x) {
        colors.look_up(indices[static_cast<std::size_t>(row * header.width + x)], rgb + 3 * x);
      }
    } else {
      convert_row(bytes.data() + header.pixels_at + row * row_bytes(header), header, colors, rgb);
    }
  }
  return out;
}

}  // namespace mezzo::image::detail
