#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/core/tensor.hpp>

// Changes of pictures (height, width, channels) of float32 or float64, for the layers of random changes.
namespace mezzo::image::detail {

/// Pixels between pixels, and beyond the border.
struct Sampling {
  std::string fill_mode = "reflect";       ///< "reflect", "wrap", "constant" or "nearest"; "mirror" in displaced()
  std::string interpolation = "bilinear";  ///< "bilinear" or "nearest"
  double fill_value = 0;                   ///< value for fill_mode "constant"
};

/// Throws a NameError that starts with `where` for an unknown fill_mode or interpolation.
void check_sampling(const Sampling& sampling, const std::string& where);

/// Pixel (x, y) comes from (a0 x + a1 y + a2, b0 x + b1 y + b2), as keras.ops.image.affine_transform with c0 = c1 = 0.
Tensor transformed(const Tensor& image, const std::array<double, 6>& transform, const Sampling& sampling);

/// The same picture of any dtype, mirrored.
Tensor flipped(const Tensor& image, bool horizontal, bool vertical);

/// Part of a picture of any dtype that begins at (top, left), cut at the picture's border.
Tensor part_of(const Tensor& image, std::int64_t top, std::int64_t left, std::int64_t height, std::int64_t width);

/// Pixel (x, y) comes from ((h0 x + h1 y + h2) / k, (h3 x + h4 y + h5) / k) with k = h6 x + h7 y + 1.
Tensor in_perspective(const Tensor& image, const std::array<double, 8>& transform, const Sampling& sampling);

/// The transform of in_perspective() that takes the pixels at `start` to `end`: corners as x, y.
std::array<double, 8> perspective_of(const std::array<double, 8>& start, const std::array<double, 8>& end);

/// Pixel (x, y) comes from (x + dx, y + dy), with one number of dx and dy for each pixel.
Tensor displaced(const Tensor& image, const std::vector<double>& dx, const std::vector<double>& dy,
                 const Sampling& sampling);

/// clip(gain (x - mean) + mean + offset, low, high); the mean is that of the channel.
Tensor adjusted(const Tensor& image, double gain, double offset, double low, double high);

}  // namespace mezzo::image::detail
