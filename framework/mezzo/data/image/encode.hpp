#pragma once
#include <mezzo/core/tensor.hpp>
#include <mezzo/io/file.hpp>

namespace mezzo::image {

/// A PNG file's bytes for a picture, uint8 (height, width, channels): gray for one channel, RGB for three, without
/// loss. A DTypeError or ShapeError if it is no such picture, an Error if mezzo was built without libpng.
Bytes encode_png(const Tensor& image);

}  // namespace mezzo::image
