#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include <mezzo/core/tensor.hpp>

// Changes of the colors of pictures (height, width, channels) of float32 or float64, for the layers of random changes.
// `low` and `high` are the bounds of the picture's numbers.
namespace mezzo::image::detail {

/// Turns the hue of a picture of three channels; 1 is a full turn.
Tensor with_hue(const Tensor& image, double turn, double low, double high);

/// Multiplies the saturation of a picture of three channels and cuts it to [low, high], as Keras does.
Tensor with_saturation(const Tensor& image, double factor, double low, double high);

/// Moves each pixel of three channels by a share towards its gray value: 0.2989 r + 0.5870 g + 0.1140 b.
Tensor towards_gray(const Tensor& image, double share);

/// x + (1 - factor) (smoothed - x), smoothed by a filter of 3 x 3 pixels that counts the middle five times.
Tensor sharpened(const Tensor& image, double factor);

/// Keeps `bits` bits of the 8 bits of each number.
Tensor posterized(const Tensor& image, int bits, double low, double high);

/// Adds `addition` to the numbers, mapped to [0, 255], and inverts those of at least `threshold`.
Tensor solarized(const Tensor& image, double addition, double threshold, double low, double high);

/// Stretches each channel to [low, high]; channels of one number stay.
Tensor stretched(const Tensor& image, double low, double high);

/// Equalizes the histogram of each channel, counted in `bins` bins.
Tensor equalized(const Tensor& image, std::int64_t bins, double low, double high);

/// Blurs by a Gaussian of `size` pixels (x, y; odd) and deviations `sigma` (x, y); pixels beyond the border count as 0.
Tensor blurred(const Tensor& image, const std::pair<std::int64_t, std::int64_t>& size,
               const std::pair<double, double>& sigma);

/// Cuts all numbers to [low, high].
Tensor cut(const Tensor& image, double low, double high);

}  // namespace mezzo::image::detail
