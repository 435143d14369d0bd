#pragma once
#include <mezzo/core/fail.hpp>
#include <mezzo/data/image/decode.hpp>

namespace mezzo::image::detail {

/// True if the bytes start as a file of that format does.
bool is_jpeg(const mezzo::detail::Bytes& bytes);
bool is_png(const mezzo::detail::Bytes& bytes);

/// Decode a file of that format; errors are those of decode_image().
Tensor decode_jpeg(const mezzo::detail::Bytes& bytes, const std::string& name, const DecodeOptions& options);
Tensor decode_png(const mezzo::detail::Bytes& bytes, const std::string& name, const DecodeOptions& options);

/// Throws a FileError: `[decode_image] "x.jpg": message`.
template <class... Arguments>
[[noreturn]] void fail_decoding(const std::string& name, fmt::format_string<Arguments...> message,
                                Arguments&&... arguments) {
  fail<FileError>(fmt::format("[decode_image] \"{}\":", name), message, std::forward<Arguments>(arguments)...);
}

/// Throws a FileError if a picture has no pixels or more than options.max_pixels.
void check_size(std::int64_t height, std::int64_t width, const std::string& name, const DecodeOptions& options);

}  // namespace mezzo::image::detail
