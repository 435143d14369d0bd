#include <mezzo/data/image/decode.hpp>

#include <mezzo/data/image/formats.hpp>

namespace mezzo::image {

namespace detail {

FileError failure(const std::string& name, const std::string& text) {
  return FileError("[decode_image] \"" + name + "\": " + text);
}

Tensor reserve(std::int64_t height, std::int64_t width, const std::string& name, const DecodeOptions& options) {
  if (height < 1 || width < 1 || height > options.max_pixels / width) {
    throw failure(name, "must have 1 to " + std::to_string(options.max_pixels) + " pixels; got " +
                            std::to_string(height) + " x " + std::to_string(width));
  }
  return Tensor::uninitialized({height, width, 3}, DType::uint8);
}

}  // namespace detail

Tensor decode_image(const Bytes& bytes, const std::string& name, const DecodeOptions& options) {
  if (detail::is_jpeg(bytes)) return detail::decode_jpeg(bytes, name, options);
  if (detail::is_png(bytes)) return detail::decode_png(bytes, name, options);
  throw detail::failure(
      name, "must be a JPEG or PNG file; its " + std::to_string(bytes.size()) + " bytes begin as neither does");
}

Tensor read_image(const std::string& path, const DecodeOptions& options) {
  constexpr std::uint64_t largest_file = std::uint64_t{256} << 20;
  return decode_image(read_file(path, largest_file), path, options);
}

}  // namespace mezzo::image
