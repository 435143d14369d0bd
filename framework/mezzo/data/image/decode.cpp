#include <mezzo/data/image/decode.hpp>

#include <mezzo/data/image/formats.hpp>
#include <mezzo/io/file_kind.hpp>

namespace mezzo::image {
namespace {

Tensor decode_known(const mezzo::detail::Bytes& bytes, const std::string& name, const DecodeOptions& options) {
  if (detail::is_jpeg(bytes)) return detail::decode_jpeg(bytes, name, options);
  if (detail::is_png(bytes)) return detail::decode_png(bytes, name, options);
  if (detail::is_bmp(bytes)) return detail::decode_bmp(bytes, name, options);
  if (detail::is_tiff(bytes)) return detail::decode_tiff(bytes, name, options);
  if (detail::is_webp(bytes)) return detail::decode_webp(bytes, name, options);
  detail::fail_decoding(name, "must start as a JPEG, PNG, BMP, TIFF or WebP file does; got {} bytes of another format",
                        bytes.size());
}

/// 8 bits as 16: 255 becomes 65535.
Tensor widened(const Tensor& picture) {
  Tensor out = Tensor::uninitialized(picture.shape(), DType::int32);
  const auto* from = picture.data<std::uint8_t>();
  auto* to = out.mutable_data<std::int32_t>();
  for (std::int64_t i = 0; i < picture.size(); ++i) to[i] = from[i] * 257;
  return out;
}

}  // namespace

void detail::check_size(std::int64_t height, std::int64_t width, const std::string& name,
                        const DecodeOptions& options) {
  if (height < 1 || width < 1 || height > options.max_pixels / width) {
    fail_decoding(name, "must have 1 to {} pixels; got {} x {}", options.max_pixels, height, width);
  }
}

void detail::check_dtype(const DecodeOptions& options, std::string_view where) {
  if (options.dtype != DType::uint8 && options.dtype != DType::int32) {
    fail<DTypeError>(where, "dtype must be uint8 or int32 (0 to 65535); got {}", options.dtype);
  }
}

void detail::inverted_cmyk_to_rgb(const std::uint8_t* from, std::int64_t pixels, std::uint8_t* to) {
  for (std::int64_t i = 0; i < pixels; ++i, from += 4) {
    for (int c = 0; c < 3; ++c) {
      const int product = (255 - from[c]) * from[3] + 128;
      *to++ = static_cast<std::uint8_t>(from[3] - ((product + (product >> 8)) >> 8));
    }
  }
}

Tensor decode_image(const mezzo::detail::Bytes& bytes, const std::string& name, const DecodeOptions& options) {
  detail::check_dtype(options, "[decode_image]");
  Tensor picture = decode_known(bytes, name, options);
  return picture.dtype() == options.dtype ? picture : widened(picture);
}

Tensor read_image(const std::string& path, const DecodeOptions& options) {
  using mezzo::detail::FileKind;
  mezzo::detail::check_kind(path, {FileKind::picture}, fmt::format("[read_image \"{}\"]", path), "a picture");
  constexpr std::uint64_t largest_file = std::uint64_t{256} << 20;
  return decode_image(mezzo::detail::read_file(path, largest_file), path, options);
}

}  // namespace mezzo::image
