#pragma once
#include <cstdint>
#include <string>

#include <mezzo/core/tensor.hpp>
#include <mezzo/io/file.hpp>

namespace mezzo::image {

struct DecodeOptions {
  /// Height times width that a header may claim, before memory is reserved for it; the default is Pillow's.
  std::int64_t max_pixels = 89'478'485;
};

/// The picture in a JPEG or PNG file: uint8 (height, width, 3), as Pillow's `convert("RGB")` has it. Gray is
/// repeated, palettes are looked up, alpha is dropped, 16-bit colors keep their upper byte, CMYK is multiplied
/// out as Adobe stores it; embedded profiles and orientation are ignored. As in Pillow, 16-bit gray without alpha is
/// not scaled: values above 255 become 255.
///
/// A FileError that names the file and the reason if it can't be read, is neither JPEG nor PNG, is truncated or
/// corrupt, is above 256 MiB or has more than `max_pixels`. An Error if mezzo was built without the library for it.
Tensor read_image(const std::string& path, const DecodeOptions& options = {});

/// As read_image(), from a file's bytes; errors call them `name`.
Tensor decode_image(const Bytes& bytes, const std::string& name, const DecodeOptions& options = {});

}  // namespace mezzo::image
