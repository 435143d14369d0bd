#pragma once
#include <string_view>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/image/decode.hpp>

namespace mezzo::image::detail {

/// True if the bytes start as a file of that format does.
bool is_jpeg(const mezzo::detail::Bytes& bytes);
bool is_png(const mezzo::detail::Bytes& bytes);
bool is_bmp(const mezzo::detail::Bytes& bytes);
bool is_tiff(const mezzo::detail::Bytes& bytes);
bool is_webp(const mezzo::detail::Bytes& bytes);

/// Decode a file of that format; errors are those of decode_image(). PNG and TIFF return int32 if options.dtype is
/// int32 and the file has 16 bits a channel, otherwise uint8. The others return uint8.
Tensor decode_jpeg(const mezzo::detail::Bytes& bytes, const std::string& name, const DecodeOptions& options);
Tensor decode_png(const mezzo::detail::Bytes& bytes, const std::string& name, const DecodeOptions& options);
Tensor decode_bmp(const mezzo::detail::Bytes& bytes, const std::string& name, const DecodeOptions& options);
Tensor decode_tiff(const mezzo::detail::Bytes& bytes, const std::string& name, const DecodeOptions& options);
Tensor decode_webp(const mezzo::detail::Bytes& bytes, const std::string& name, const DecodeOptions& options);

/// Throws a FileError: `[decode_image] "x.jpg": message`.
template <class... Arguments>
[[noreturn]] void fail_decoding(const std::string& name, fmt::format_string<Arguments...> message,
                                Arguments&&... arguments) {
  fail<FileError>(fmt::format("[decode_image] \"{}\":", name), message, std::forward<Arguments>(arguments)...);
}

/// Throws a FileError if a picture has no pixels or more than options.max_pixels.
void check_size(std::int64_t height, std::int64_t width, const std::string& name, const DecodeOptions& options);

/// Throws a DTypeError unless options.dtype is uint8 or int32.
void check_dtype(const DecodeOptions& options, std::string_view where);

/// Converts CMYK with inverted inks, 255 is none, to RGB, as Pillow does.
void inverted_cmyk_to_rgb(const std::uint8_t* from, std::int64_t pixels, std::uint8_t* to);

}  // namespace mezzo::image::detail
