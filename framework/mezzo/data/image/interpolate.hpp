#pragma once
#include <cstdint>
#include <string>

#include <mezzo/core/tensor.hpp>

namespace mezzo::image::detail {

/// Throws a NameError that starts with `where` unless it is the name of an interpolation of interpolate().
void check_interpolation(const std::string& interpolation, const std::string& where);

/// Resizes a picture (height, width, channels) of any dtype to float32, without antialiasing, as tf.image.resize:
/// "bilinear", "nearest", "bicubic" (a = -0.5), "lanczos3" or "lanczos5". The result of "nearest" is float32, too.
Tensor interpolate(const Tensor& image, std::int64_t height, std::int64_t width, const std::string& interpolation);

}  // namespace mezzo::image::detail
