#if MEZZO_WITH_TIFF
#include <mezzo/data/image/tiff_layout.hpp>

#include <algorithm>
#include <initializer_list>

#include <mezzo/data/image/formats.hpp>

namespace mezzo::image::detail {
namespace {

bool is_one_of(std::int64_t value, std::initializer_list<std::int64_t> values) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

/// Refuses codecs that are rare or whose memory has no limit, such as LZMA.
void check_compression(const TiffFile& file) {
  const std::uint16_t compression = file.number(TIFFTAG_COMPRESSION);
  if (is_one_of(compression, {COMPRESSION_NONE, COMPRESSION_CCITTRLE, COMPRESSION_CCITTFAX3, COMPRESSION_CCITTFAX4,
                              COMPRESSION_LZW, COMPRESSION_JPEG, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_DEFLATE,
                              COMPRESSION_PACKBITS, COMPRESSION_ZSTD})) {
    return;
  }
  fail_decoding(file.name(),
                "the compression of a TIFF file must be none, CCITT, LZW, JPEG, Deflate, PackBits or ZSTD; got {}",
                compression);
}

void set_colors(TiffLayout& layout, std::uint16_t photometric) {
  struct Row {
    std::uint16_t photometric;
    TiffColors colors;
    std::int64_t channels;
  };
  constexpr Row rows[] = {{PHOTOMETRIC_MINISBLACK, TiffColors::gray, 1},
                          {PHOTOMETRIC_MINISWHITE, TiffColors::inverted_gray, 1},
                          {PHOTOMETRIC_PALETTE, TiffColors::palette, 1},
                          {PHOTOMETRIC_RGB, TiffColors::rgb, 3},
                          {PHOTOMETRIC_SEPARATED, TiffColors::cmyk, 4}};
  for (const Row& row : rows) {
    if (row.photometric == photometric && layout.samples >= row.channels) {
      layout.colors = row.colors;
      layout.channels = row.channels;
    }
  }
}

}  // namespace

TiffLayout read_tiff_layout(const TiffFile& file) {
  check_compression(file);
  TiffLayout layout;
  layout.width = file.large_number(TIFFTAG_IMAGEWIDTH, 0);
  layout.height = file.large_number(TIFFTAG_IMAGELENGTH, 0);
  layout.bits = file.number(TIFFTAG_BITSPERSAMPLE);
  layout.samples = file.number(TIFFTAG_SAMPLESPERPIXEL);
  const std::uint16_t format = file.number(TIFFTAG_SAMPLEFORMAT);
  if (!is_one_of(layout.bits, {1, 2, 4, 8, 16}) || !is_one_of(format, {SAMPLEFORMAT_UINT, SAMPLEFORMAT_VOID})) {
    const char* const kind = format == SAMPLEFORMAT_INT      ? "signed integers"
                             : format == SAMPLEFORMAT_IEEEFP ? "floats"
                                                             : "unsigned integers";
    fail_decoding(file.name(),
                  "channels of a TIFF file must be unsigned integers of 1, 2, 4, 8 or 16 bits; got {} of {} bits", kind,
                  layout.bits);
  }
  constexpr std::int64_t most_samples = 64;
  if (layout.samples < 1 || layout.samples > most_samples) {
    fail_decoding(file.name(), "a TIFF file must have 1 to {} channels; got {}", most_samples, layout.samples);
  }
  layout.separate = file.number(TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE && layout.samples > 1;
  const std::uint16_t usual = layout.samples >= 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK;
  set_colors(layout, file.number(TIFFTAG_PHOTOMETRIC, usual));
  return layout;
}

}  // namespace mezzo::image::detail
#endif
