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
  /// uint8: 0 to 255; channels of 16 bits keep their upper byte. int32: 0 to 65535, the values of uint16, which is no
  /// dtype of mezzo; channels of 8 bits are multiplied by 257. As `dtype` of tf.io.decode_png, uint8 or uint16.
  DType dtype = DType::uint8;
};

/// Reads a JPEG, PNG, BMP, TIFF or WebP file; its first bytes tell the format. Returns uint8 (height, width, 3), equal
/// to Pillow's `convert("RGB")`: gray is repeated, palettes are looked up, alpha is dropped, and CMYK is converted as
/// Adobe stores it. Unlike in Pillow, 16-bit gray keeps its upper byte, as in TensorFlow. Embedded profiles and
/// orientation are ignored. The first picture of a TIFF file and the first frame of an animated WebP file are read.
///
/// Throws a FileError that names the file and the reason if the file can't be read, is of another format, is truncated
/// or corrupt, is larger than 256 MiB or has more than `max_pixels`. A file that is too short for its number of pixels
/// is refused before memory is allocated: 512 pixels of JPEG a byte, 1032 bytes of a PNG's rows a byte. JPEG files of
/// more than 500 scans are refused, also BMP files with JPEG or PNG in them, and TIFF files whose channels are not
/// unsigned integers of 1, 2, 4, 8 or 16 bits. Throws an Error if mezzo was built without the library of the format:
/// libjpeg-turbo, libpng, libtiff or libwebp. Throws a DTypeError if options.dtype is neither uint8 nor int32.
MEZZO_API Tensor read_image(const std::string& path, const DecodeOptions& options = {});

/// Decodes the bytes of such a file. Error texts contain `name` in place of a path.
MEZZO_API Tensor decode_image(const mezzo::detail::Bytes& bytes, const std::string& name,
                              const DecodeOptions& options = {});

}  // namespace mezzo::image
