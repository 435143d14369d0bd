#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/core/tensor.hpp>
#include <mezzo/io/file.hpp>

namespace mezzo::image {

/// Encodes a picture, uint8 (height, width, channels), as PNG without loss: gray for one channel, RGB for three.
/// Returns the file's bytes. Throws a DTypeError or ShapeError if `image` is not such a picture, an Error if mezzo was
/// built without libpng.
MEZZO_API mezzo::detail::Bytes encode_png(const Tensor& image);

}  // namespace mezzo::image
