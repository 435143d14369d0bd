#include <mezzo/backends/xsimd/winograd/geometry.hpp>

namespace mezzo::xsimd_kernels::winograd {
namespace {

constexpr std::int64_t tile = 4;

TiledImages tiled(const Shape& images, std::int64_t down, std::int64_t across, std::int64_t top, std::int64_t left) {
  return {.height = images[1],
          .width = images[2],
          .channels = images[3],
          .down = down,
          .across = across,
          .top = top,
          .left = left};
}

std::int64_t tiles_along(std::int64_t size) { return (size + tile - 1) / tile; }

Geometry geometry_of(const KernelRequest& request, const Shape& x, const Shape& y) {
  const auto& padding = request.attributes.get<Shape>("padding");
  const std::int64_t down = tiles_along(y[1]), across = tiles_along(y[2]);
  return {.x = tiled(x, down, across, padding[0], padding[2]),
          .y = tiled(y, down, across, 0, 0),
          .tiles = x[0] * down * across};
}

}  // namespace

bool takes(const KernelRequest& request, const Shape& x, const Shape& kernel, const Shape& y, std::string& reason) {
  const auto& strides = request.attributes.get<Shape>("strides");
  const auto& dilation = request.attributes.get<Shape>("dilation");
  const auto& padding = request.attributes.get<Shape>("padding");
  const auto groups = request.attributes.get<std::int64_t>("groups");
  bool narrow_padding = true;
  for (const std::int64_t size : padding) narrow_padding = narrow_padding && size <= 2;
  if (kernel[0] != 3 || kernel[1] != 3 || strides != Shape{1, 1} || dilation != Shape{1, 1} || groups != 1 ||
      !narrow_padding) {
    decline(reason,
            "winograd takes 3 x 3 kernels with strides and dilation 1, one group and padding up to 2; "
            "got {} x {}, strides {}, dilation {}, {} groups, padding {}",
            kernel[0], kernel[1], strides, dilation, groups, padding);
    return false;
  }
  if (!takes_stored(request, reason)) return false;
  // A tile takes 36 products, a pixel takes 9 in a plain sum: with fewer than 8 pixels in use per tile the transforms
  // cost more than the saved products. The same holds for few channels, and for a kernel that is used for few tiles.
  constexpr std::int64_t fewest_pixels = 8, fewest_channels = 16;
  const std::int64_t fewest_tiles = request.constants.count(1) != 0 ? 8 : 32;  // constant kernels are transformed once
  const std::int64_t tiles = x[0] * tiles_along(y[1]) * tiles_along(y[2]), pixels = y[0] * y[1] * y[2];
  if (x[3] < fewest_channels || y[3] < fewest_channels || tiles < fewest_tiles || pixels < fewest_pixels * tiles) {
    decline(reason,
            "winograd takes at least {} channels and filters, {} tiles of 4 x 4 and {} pixels in use per tile; "
            "got {} channels, {} filters, {} tiles, {} pixels",
            fewest_channels, fewest_tiles, fewest_pixels, x[3], y[3], tiles, pixels);
    return false;
  }
  return true;
}

bool takes_normalized(const KernelRequest& request, std::string& reason) {
  for (const Spec& spec : {request.inputs[0], request.inputs[1], request.outputs[0]}) {
    if (spec.dtype == DType::float32) continue;
    decline(reason, "takes float32; got {}", spec.dtype);
    return false;
  }
  return true;
}

std::uint16_t zero_outputs(WinogradFunctions::Occupied occupied, const void* images, const TiledImages& geometry,
                           std::int64_t place) {
  // Every output is computed from one of the four pixels in the middle.
  constexpr std::uint64_t middle = std::uint64_t{3} << 14 | std::uint64_t{3} << 20, all = (std::uint64_t{1} << 36) - 1;
  const std::uint64_t found = occupied(images, geometry, place, middle);
  if (found == middle) return 0;
  const std::uint64_t zero = all & ~(found | occupied(images, geometry, place, all & ~middle));
  const std::uint64_t across = zero & zero >> 1 & zero >> 2, square = across & across >> 6 & across >> 12;
  unsigned outputs = 0;
  for (unsigned row = 0; row < 4; ++row) outputs |= static_cast<unsigned>(square >> 6 * row & 15U) << 4 * row;
  return static_cast<std::uint16_t>(outputs);
}

Geometry of_convolution(const KernelRequest& request) {
  return geometry_of(request, request.inputs[0].shape, request.outputs[0].shape);
}

Geometry of_input_gradient(const KernelRequest& request) {
  const Shape &x = request.outputs[0].shape, &y = request.inputs[0].shape;
  const auto& padding = request.attributes.get<Shape>("padding");
  const std::int64_t down = tiles_along(x[1]), across = tiles_along(x[2]);
  return {.x = tiled(y, down, across, 2 - padding[0], 2 - padding[2]),
          .y = tiled(x, down, across, 0, 0),
          .tiles = x[0] * down * across};
}

Geometry of_kernel_gradient(const KernelRequest& request) {
  return geometry_of(request, request.inputs[0].shape, request.inputs[1].shape);
}

}  // namespace mezzo::xsimd_kernels::winograd
