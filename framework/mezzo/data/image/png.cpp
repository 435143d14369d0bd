#include <mezzo/data/image/formats.hpp>

#include <algorithm>

#if MEZZO_WITH_PNG
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <new>

#include <png.h>

#include <mezzo/io/inflater.hpp>
#endif

namespace mezzo::image::detail {

bool is_png(const mezzo::detail::Bytes& bytes) {
  constexpr std::uint8_t signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  return bytes.size() >= 8 && std::equal(signature, signature + 8, bytes.begin());
}

#if MEZZO_WITH_PNG
namespace {

/// Decodes one PNG file. libpng reports errors by longjmp, which start() and finish() turn into their result.
class PngReader {
 public:
  explicit PngReader(const mezzo::detail::Bytes& bytes) : next_(bytes.data()), left_(bytes.size()) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, fail, ignore);
    info_ = png_ != nullptr ? png_create_info_struct(png_) : nullptr;
    if (info_ == nullptr) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw std::bad_alloc();
    }
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  // longjmp skips destructors: start() and finish() must not hold objects that have one. If they return false, reason()
  // has the error.

  /// Reads the header.
  bool start() {
    if (setjmp(jump_) != 0) return false;
    png_set_read_fn(png_, this, read);
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // the caller limits the number of pixels
    png_set_chunk_malloc_max(png_, 8'000'000);
    png_set_chunk_cache_max(png_, 1);  // skips texts, each of which could be inflated to the limit above
    png_read_info(png_, info_);
    return true;
  }

  /// Reads the pixels row by row, three channels of 8 bits, or of 16 bits, the most significant byte first. Rows begin
  /// `stride` bytes apart.
  bool finish(png_bytep pixels, std::size_t stride, bool deep) {
    if (setjmp(jump_) != 0) return false;
    if (!deep) png_set_strip_16(png_);
    png_set_palette_to_rgb(png_);
    png_set_expand_gray_1_2_4_to_8(png_);
    png_set_gray_to_rgb(png_);
    png_set_strip_alpha(png_);
    const int passes = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    const auto width = std::size_t{png_get_image_width(png_, info_)};
    const auto height = std::size_t{png_get_image_height(png_, info_)};
    if (png_get_rowbytes(png_, info_) != width * (deep ? 6 : 3)) png_error(png_, "unexpected row size");
    for (int pass = 0; pass < passes; ++pass) {
      for (std::size_t y = 0; y < height; ++y) png_read_row(png_, pixels + y * stride, nullptr);
    }
    png_read_end(png_, nullptr);
    return true;
  }

  /// Bytes of all rows before compression, without filter types.
  std::uint64_t raw_bytes() const {
    return std::uint64_t{png_get_rowbytes(png_, info_)} * png_get_image_height(png_, info_);
  }
  std::int64_t height() const { return png_get_image_height(png_, info_); }
  std::int64_t width() const { return png_get_image_width(png_, info_); }
  bool has_16_bits() const { return png_get_bit_depth(png_, info_) == 16; }
  const char* reason() const { return text_; }

 private:
  [[noreturn]] static void fail(png_structp png, png_const_charp text) {
    auto* decoder = static_cast<PngReader*>(png_get_error_ptr(png));
    std::snprintf(decoder->text_, sizeof decoder->text_, "%s", text);
    std::longjmp(decoder->jump_, 1);
  }
  static void ignore(png_structp, png_const_charp) {}

  static void read(png_structp png, png_bytep to, std::size_t count) {
    auto* decoder = static_cast<PngReader*>(png_get_io_ptr(png));
    if (count > decoder->left_) png_error(png, "the file is truncated");
    std::memcpy(to, decoder->next_, count);
    decoder->next_ += count;
    decoder->left_ -= count;
  }

  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  const std::uint8_t* next_;
  std::size_t left_;
  std::jmp_buf jump_{};
  char text_[200] = "";
};

/// Converts 16-bit samples in the second half of a row, the most significant byte first, to int32 in the whole row.
void widen_row(std::uint8_t* row, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes / 4; ++i) {
    const std::uint8_t* const sample = row + bytes / 2 + 2 * i;
    const std::int32_t value = sample[0] * 256 + sample[1];
    std::memcpy(row + 4 * i, &value, sizeof value);
  }
}

}  // namespace

Tensor decode_png(const mezzo::detail::Bytes& bytes, const std::string& name, const DecodeOptions& options) {
  PngReader decoder(bytes);
  const auto refuse = [&] { fail_decoding(name, "not a whole PNG file: {}", decoder.reason()); };
  if (!decoder.start()) refuse();
  check_size(decoder.height(), decoder.width(), name, options);
  const std::uint64_t least = decoder.raw_bytes() / mezzo::detail::most_inflation;
  if (bytes.size() < least) {
    fail_decoding(name, "a PNG file of {} x {} pixels must have at least {} bytes; got {}", decoder.height(),
                  decoder.width(), least, bytes.size());
  }
  const bool deep = options.dtype == DType::int32 && decoder.has_16_bits();
  Tensor out = Tensor::uninitialized({decoder.height(), decoder.width(), 3}, deep ? DType::int32 : DType::uint8);
  auto* const pixels = static_cast<std::uint8_t*>(out.mutable_raw());
  const auto stride = out.bytes() / static_cast<std::size_t>(decoder.height());
  // The 16-bit samples of a row take the second half of its memory, which their 32-bit values don't reach too early.
  if (!decoder.finish(deep ? pixels + stride / 2 : pixels, stride, deep)) refuse();
  for (std::int64_t y = 0; deep && y < decoder.height(); ++y)
    widen_row(pixels + static_cast<std::size_t>(y) * stride, stride);
  return out;
}

#else

Tensor decode_png(const mezzo::detail::Bytes&, const std::string& name, const DecodeOptions&) {
  fail<Error>("[decode_image]", "\"{}\": PNG needs libpng; this mezzo was built without it", name);
}

#endif

}  // namespace mezzo::image::detail
