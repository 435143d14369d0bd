#include <mezzo/backends/xsimd/winograd/geometry.hpp>

#include <mezzo/backends/xsimd/entries.hpp>

namespace mezzo::xsimd_kernels {

const WinogradFunctions& winograd_functions(Isa isa) {
  return pick(isa, sse2::winograd, avx2::winograd, avx512::winograd, avx512_bf16::winograd);
}

}  // namespace mezzo::xsimd_kernels

namespace mezzo::xsimd_kernels::winograd {
namespace {

constexpr std::int64_t tile = 4;

TiledImages tiled(const Shape& images, std::int64_t down, std::int64_t across, std::int64_t top, std::int64_t left) {
  return {images[1], images[2], images[3], down, across, top, left};
}

std::int64_t tiles_along(std::int64_t size) { return (size + tile - 1) / tile; }

Geometry geometry_of(const KernelRequest& request, const Shape& x, const Shape& y) {
  const auto& padding = request.attributes.get<Shape>("padding");
  const std::int64_t down = tiles_along(y[1]), across = tiles_along(y[2]);
  return {tiled(x, down, across, padding[0], padding[2]), tiled(y, down, across, 0, 0), x[0] * down * across};
}

}  // namespace

bool takes(const KernelRequest& request, const Shape& x, const Shape& kernel, const Shape& y, std::string& reason) {
  const auto is = [&](const char* name, const Shape& wanted) { return request.attributes.get<Shape>(name) == wanted; };
  const auto& padding = request.attributes.get<Shape>("padding");
  bool narrow_padding = true;
  for (const std::int64_t size : padding) narrow_padding = narrow_padding && size <= 2;
  if (kernel[0] != 3 || kernel[1] != 3 || !is("strides", {1, 1}) || !is("dilation", {1, 1}) ||
      request.attributes.get<std::int64_t>("groups") != 1 || !narrow_padding) {
    reason = "winograd is for 3 x 3 kernels without strides, dilation and groups, padded by 2 at most";
    return false;
  }
  for (const DType dtype : {request.inputs[0].dtype, request.inputs[1].dtype, request.outputs[0].dtype}) {
    if (!is_stored(dtype)) {
      decline_dtype(reason, dtype);
      return false;
    }
  }
  // 36 products a tile against 9 a pixel: fewer than 8 pixels a tile don't pay for the transforms. Neither do few
  // channels or a kernel that is used for few tiles.
  constexpr std::int64_t fewest_pixels = 8, fewest_channels = 16, fewest_tiles = 32;
  const std::int64_t tiles = x[0] * tiles_along(y[1]) * tiles_along(y[2]);
  if (x[3] < fewest_channels || y[3] < fewest_channels || tiles < fewest_tiles ||
      y[0] * y[1] * y[2] < fewest_pixels * tiles) {
    reason = "winograd needs 16 channels and filters, 32 tiles of 4 x 4 and half of their pixels in use";
    return false;
  }
  return true;
}

Geometry of_convolution(const KernelRequest& request) {
  return geometry_of(request, request.inputs[0].shape, request.outputs[0].shape);
}

Geometry of_input_gradient(const KernelRequest& request) {
  const Shape &x = request.outputs[0].shape, &y = request.inputs[0].shape;
  const auto& padding = request.attributes.get<Shape>("padding");
  const std::int64_t down = tiles_along(x[1]), across = tiles_along(x[2]);
  return {tiled(y, down, across, 2 - padding[0], 2 - padding[2]), tiled(x, down, across, 0, 0), x[0] * down * across};
}

Geometry of_kernel_gradient(const KernelRequest& request) {
  return geometry_of(request, request.inputs[0].shape, request.inputs[1].shape);
}

}  // namespace mezzo::xsimd_kernels::winograd
