#include <mezzo/data/image/decode.hpp>

#include <mezzo/data/image/formats.hpp>
#include <mezzo/io/file_kind.hpp>

namespace mezzo::image {

void detail::check_size(std::int64_t height, std::int64_t width, const std::string& name,
                        const DecodeOptions& options) {
  if (height < 1 || width < 1 || height > options.max_pixels / width) {
    fail_decoding(name, "must have 1 to {} pixels; got {} x {}", options.max_pixels, height, width);
  }
}

Tensor decode_image(const mezzo::detail::Bytes& bytes, const std::string& name, const DecodeOptions& options) {
  if (detail::is_jpeg(bytes)) return detail::decode_jpeg(bytes, name, options);
  if (detail::is_png(bytes)) return detail::decode_png(bytes, name, options);
  detail::fail_decoding(name, "must start as a JPEG or PNG file does; got {} bytes of another format", bytes.size());
}

Tensor read_image(const std::string& path, const DecodeOptions& options) {
  using mezzo::detail::FileKind;
  mezzo::detail::check_kind(path, {FileKind::picture}, fmt::format("[read_image \"{}\"]", path), "a picture");
  constexpr std::uint64_t largest_file = std::uint64_t{256} << 20;
  return decode_image(mezzo::detail::read_file(path, largest_file), path, options);
}

}  // namespace mezzo::image
