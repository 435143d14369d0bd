#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include <mezzo/backends/xsimd/winograd/winograd.hpp>
#include <mezzo/compiler/kernel.hpp>

namespace mezzo::xsimd_kernels::winograd {

/// A convolution that is computed this way.
struct Geometry {
  TiledImages x, y;  ///< channels and filters; of y the tiles are those of 4 x 4, from its first pixel on
  std::int64_t tiles = 0;
};

/// Whether a convolution of x (N, H, W, C) by `kernel` to y is worth it, or why not.
bool takes(const KernelRequest& request, const Shape& x, const Shape& kernel, const Shape& y, std::string& reason);

/// Those of conv2d and its two gradients. Of the input gradient `x` is the cotangent of y, and `y` that of x.
Geometry of_convolution(const KernelRequest& request);
Geometry of_input_gradient(const KernelRequest& request);
Geometry of_kernel_gradient(const KernelRequest& request);

/// Points of `rows` rows of `width` floats. The pitch is no multiple of a page: 36 points written in turn would fall
/// into one set of the cache.
inline Points points(float* data, std::int64_t rows, std::int64_t width) {
  constexpr std::int64_t floats_of_line = 16;
  return {data, rows * width + floats_of_line, width};
}
inline std::int64_t floats_of(const Points& points) { return winograd_points * points.pitch; }

}  // namespace mezzo::xsimd_kernels::winograd
