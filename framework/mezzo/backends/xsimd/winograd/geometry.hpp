#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/winograd/winograd.hpp>
#include <mezzo/compiler/kernel.hpp>

namespace mezzo::xsimd_kernels::winograd {

/// The tiles of a convolution.
struct Geometry {
  TiledImages x, y;  ///< images of channels and images of filters; y's tiles of 4 x 4 begin at its first pixel
  std::int64_t tiles = 0;
};

/// True if Winograd's algorithm supports the convolution of x (N, H, W, C) by `kernel` to y, and saves time. Sets the
/// reason otherwise.
bool takes(const KernelRequest& request, const Shape& x, const Shape& kernel, const Shape& y, std::string& reason);

/// True if the operands of a convolution of normalized images are float32. Sets the reason otherwise.
bool takes_normalized(const KernelRequest& request, std::string& reason);

/// The geometries of conv2d and its two gradients. In the input gradient's, `x` is the cotangent of y and `y` the
/// cotangent of x.
Geometry of_convolution(const KernelRequest& request);
Geometry of_input_gradient(const KernelRequest& request);
Geometry of_kernel_gradient(const KernelRequest& request);

/// Outputs of a tile whose pixels are all 0: bit 4 i + j. The transforms mix the 6 x 6 pixels of a tile, so such an
/// output would otherwise be a rounding error, and could pass the next ReLU.
std::uint16_t zero_outputs(WinogradFunctions::Occupied occupied, const void* images, const TiledImages& geometry,
                           std::int64_t tile);

/// Points of `rows` rows of `width` floats. The pitch isn't a multiple of a page, since 36 points that are written in
/// turn would then be in one set of the cache.
inline Points points(float* data, std::int64_t rows, std::int64_t width) {
  constexpr std::int64_t floats_of_line = 16;
  return {.data = data, .pitch = rows * width + floats_of_line, .width = width};
}
inline std::int64_t floats_of(const Points& points) { return winograd_points * points.pitch; }

/// Kernels of the ops conv2d, conv2d_input_gradient and conv2d_kernel_gradient, even if they are not faster. Return
/// null and set the reason if they decline.
std::unique_ptr<Kernel> make_convolution(const KernelRequest& request, Isa isa, std::string& reason);
std::unique_ptr<Kernel> make_input_gradient(const KernelRequest& request, Isa isa, std::string& reason);
std::unique_ptr<Kernel> make_kernel_gradient(const KernelRequest& request, Isa isa, std::string& reason);

/// Kernels of the ops normalized_conv2d and normalized_conv2d_kernel_gradient, likewise.
std::unique_ptr<Kernel> make_normalized_convolution(const KernelRequest& request, Isa isa, std::string& reason);
std::unique_ptr<Kernel> make_normalized_kernel_gradient(const KernelRequest& request, Isa isa, std::string& reason);

}  // namespace mezzo::xsimd_kernels::winograd
