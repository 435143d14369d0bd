#pragma once
#include <mezzo/data/image/decode.hpp>

namespace mezzo::image::detail {

bool is_jpeg(const Bytes& bytes);
bool is_png(const Bytes& bytes);

Tensor decode_jpeg(const Bytes& bytes, const std::string& name, const DecodeOptions& options);
Tensor decode_png(const Bytes& bytes, const std::string& name, const DecodeOptions& options);

// `[decode_image] "x.jpg": text`
FileError failure(const std::string& name, const std::string& text);

// Storage for a picture that a header announces; a FileError if it has too many pixels.
Tensor reserve(std::int64_t height, std::int64_t width, const std::string& name, const DecodeOptions& options);

}  // namespace mezzo::image::detail
