#pragma once
#include <cstdint>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/core/tensor.hpp>
#include <mezzo/io/file.hpp>

namespace mezzo::image {

struct DecodeOptions {
  /// Limit of height times width, checked before memory is reserved. The default is Pillow's.
  std::int64_t max_pixels = 89'478'485;
};

/// Reads a JPEG or PNG file. Returns uint8 (height, width, 3), equal to Pillow's `convert("RGB")`: gray is repeated,
/// palettes are looked up, alpha is dropped, 16-bit colors keep their upper byte, and CMYK is converted as Adobe stores
/// it. Embedded profiles and orientation are ignored. As in Pillow, 16-bit gray without alpha is not scaled: values
/// above 255 become 255.
///
/// Throws a FileError that names the file and the reason if the file can't be read, is neither JPEG nor PNG, is
/// truncated or corrupt, is larger than 256 MiB or has more than `max_pixels`. A file that is too short for its number
/// of pixels is refused before memory is allocated: 512 pixels of JPEG a byte, 1032 bytes of a PNG's rows a byte. JPEG
/// files of more than 500 scans are refused. Throws an Error if mezzo was built without libjpeg-turbo or libpng.
MEZZO_API Tensor read_image(const std::string& path, const DecodeOptions& options = {});

/// Decodes the bytes of such a file. Error texts contain `name` in place of a path.
MEZZO_API Tensor decode_image(const mezzo::detail::Bytes& bytes, const std::string& name,
                              const DecodeOptions& options = {});

}  // namespace mezzo::image
