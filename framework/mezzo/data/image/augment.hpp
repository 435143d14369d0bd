#pragma once
#include <array>
#include <string>

#include <mezzo/core/tensor.hpp>

// Changes of pictures (height, width, channels) of float32 or float64, for the layers of random changes.
namespace mezzo::image::detail {

/// Pixels between pixels, and beyond the border.
struct Sampling {
  std::string fill_mode = "reflect";       ///< "reflect", "wrap", "constant" or "nearest"
  std::string interpolation = "bilinear";  ///< "bilinear" or "nearest"
  double fill_value = 0;                   ///< of "constant"
};

/// Throws a NameError that starts with `where` for an unknown fill_mode or interpolation.
void check_sampling(const Sampling& sampling, const std::string& where);

/// Pixel (x, y) comes from (a0 x + a1 y + a2, b0 x + b1 y + b2), as keras.ops.image.affine_transform with c0 = c1 = 0.
Tensor transformed(const Tensor& image, const std::array<double, 6>& transform, const Sampling& sampling);

/// The same picture, mirrored.
Tensor flipped(const Tensor& image, bool horizontal, bool vertical);

/// clip(gain (x - mean) + mean + offset, low, high); the mean is that of the channel.
Tensor adjusted(const Tensor& image, double gain, double offset, double low, double high);

}  // namespace mezzo::image::detail
