#include <mezzo/data/image/formats.hpp>

#include <algorithm>
#include <string_view>

#if MEZZO_WITH_TIFF
#include <vector>

#include <mezzo/data/image/tiff_blocks.hpp>
#endif

namespace mezzo::image::detail {

bool is_tiff(const mezzo::detail::Bytes& bytes) {
  using namespace std::string_view_literals;
  const auto starts = [&](std::string_view text) {
    return bytes.size() >= text.size() && std::equal(text.begin(), text.end(), bytes.begin());
  };
  return starts("II*\0"sv) || starts("MM\0*"sv) || starts("II+\0"sv) || starts("MM\0+"sv);  // + is BigTIFF
}

#if MEZZO_WITH_TIFF
namespace {

/// Converts samples of pixels to RGB.
class TiffConverter {
 public:
  TiffConverter(const TiffFile& file, const TiffLayout& layout) : layout_(layout) {
    if (layout.colors == TiffColors::palette &&
        (layout.bits > 8 || TIFFGetField(file.get(), TIFFTAG_COLORMAP, &map_[0], &map_[1], &map_[2]) != 1)) {
      file.refuse("it has no palette");
    }
    const std::int64_t colors = layout.colors == TiffColors::palette ? std::int64_t{1} << layout.bits : 0;
    for (const std::uint16_t* const channel : map_) {
      for (std::int64_t i = 0; i < colors; ++i) wide_map_ = wide_map_ || channel[i] > 255;
    }
  }

  /// T is uint8_t, or int32_t for 16-bit samples of gray and RGB.
  template <class T>
  void convert(const std::uint16_t* samples, std::int64_t count, T* rgb) const {
    for (std::int64_t x = 0; x < count; ++x, samples += layout_.channels, rgb += 3) {
      switch (layout_.colors) {
        case TiffColors::rgb:
          for (int c = 0; c < 3; ++c) rgb[c] = scaled<T>(samples[c]);
          break;
        case TiffColors::palette:
          for (int c = 0; c < 3; ++c) rgb[c] = color(map_[c][samples[0]]);
          break;
        case TiffColors::cmyk:
          convert_cmyk(samples, rgb);
          break;
        default:
          std::fill(rgb, rgb + 3, scaled<T>(samples[0]));
          if (layout_.colors == TiffColors::inverted_gray) {
            for (int c = 0; c < 3; ++c) rgb[c] = static_cast<T>((sizeof(T) == 1 ? 255 : 65535) - rgb[c]);
          }
      }
    }
  }

 private:
  template <class T>
  T scaled(std::uint16_t sample) const {
    if (layout_.bits == 16) return static_cast<T>(sizeof(T) == 1 ? sample >> 8U : sample);
    return static_cast<T>(sample * 255 / ((1 << layout_.bits) - 1));
  }

  /// Colors have 16 bits, but some programs write 8.
  std::uint8_t color(std::uint16_t value) const { return static_cast<std::uint8_t>(wide_map_ ? value >> 8U : value); }

  template <class T>
  void convert_cmyk(const std::uint16_t* samples, T* rgb) const {
    std::uint8_t inks[4], colors[3];
    for (int c = 0; c < 4; ++c) inks[c] = static_cast<std::uint8_t>(255 - scaled<std::uint8_t>(samples[c]));
    inverted_cmyk_to_rgb(inks, 1, colors);
    std::copy(colors, colors + 3, rgb);
  }

  const TiffLayout& layout_;
  std::uint16_t* map_[3]{};
  bool wide_map_ = false;
};

template <class T>
Tensor decode_blocks(const TiffFile& file, const TiffLayout& layout) {
  const TiffConverter converter(file, layout);
  TiffBlocks blocks(file, layout);
  Tensor out = Tensor::uninitialized({layout.height, layout.width, 3}, DTypeOf<T>::value);
  T* const rgb = out.mutable_data<T>();
  std::vector<std::uint16_t> samples(static_cast<std::size_t>(layout.width * layout.channels));
  for (std::int64_t y = 0; y < layout.height; y += blocks.height()) {
    for (std::int64_t x = 0; x < layout.width; x += blocks.width()) {
      blocks.read(y, x);
      const std::int64_t count = std::min(blocks.width(), layout.width - x);
      for (std::int64_t row = 0; row < std::min(blocks.height(), layout.height - y); ++row) {
        blocks.unpack(row, count, samples.data());
        converter.convert(samples.data(), count, rgb + ((y + row) * layout.width + x) * 3);
      }
    }
  }
  return out;
}

/// Decodes YCbCr, L*a*b* and the like by libtiff's own conversion to 8 bits.
Tensor decode_other(const TiffFile& file, const TiffLayout& layout) {
  TIFFRGBAImage image{};
  char reason[1024] = "";
  if (TIFFRGBAImageOK(file.get(), reason) == 0 || TIFFRGBAImageBegin(&image, file.get(), 1, reason) == 0) {
    file.refuse(reason);
  }
  image.req_orientation = image.orientation;
  std::vector<std::uint32_t> raster(static_cast<std::size_t>(layout.width * layout.height));
  const int done = TIFFRGBAImageGet(&image, raster.data(), static_cast<std::uint32_t>(layout.width),
                                    static_cast<std::uint32_t>(layout.height));
  TIFFRGBAImageEnd(&image);
  if (done == 0) file.refuse("its pixels can't be decoded");
  Tensor out = Tensor::uninitialized({layout.height, layout.width, 3}, DType::uint8);
  auto* rgb = out.mutable_data<std::uint8_t>();
  for (const std::uint32_t pixel : raster) {
    for (unsigned c = 0; c < 3; ++c) *rgb++ = static_cast<std::uint8_t>(pixel >> (8 * c));
  }
  return out;
}

}  // namespace

Tensor decode_tiff(const mezzo::detail::Bytes& bytes, const std::string& name, const DecodeOptions& options) {
  const TiffFile file(bytes, name);
  const TiffLayout layout = read_tiff_layout(file);
  check_size(layout.height, layout.width, name, options);
  if (layout.colors == TiffColors::other) return decode_other(file, layout);
  const bool deep = options.dtype == DType::int32 && layout.bits == 16 && layout.colors != TiffColors::cmyk;
  return deep ? decode_blocks<std::int32_t>(file, layout) : decode_blocks<std::uint8_t>(file, layout);
}

#else

Tensor decode_tiff(const mezzo::detail::Bytes&, const std::string& name, const DecodeOptions&) {
  fail<Error>("[decode_image]", "\"{}\": TIFF needs libtiff; this mezzo was built without it", name);
}

#endif

}  // namespace mezzo::image::detail
