#pragma once
#include <cstdint>

#include <mezzo/compiler/kernel.hpp>

namespace mezzo::reference {

/// What pooling asks for: the attributes window, strides and padding, for images of two sizes.
struct PoolGeometry {
  std::int64_t batch, height, width, channels, out_height, out_width;
  std::int64_t window_height, window_width, stride_height, stride_width, top, left;

  /// Where in x place `place` of the window of output (row, column) lies; false if it lies in the padding.
  bool locate(std::int64_t row, std::int64_t column, std::int64_t place, std::int64_t& offset) const {
    const std::int64_t h = row * stride_height - top + place / window_width;
    const std::int64_t w = column * stride_width - left + place % window_width;
    offset = (h * width + w) * channels;
    return h >= 0 && h < height && w >= 0 && w < width;
  }
};

/// That of pooling x to y.
inline PoolGeometry pool_geometry(const KernelRequest& request, const Shape& x, const Shape& y) {
  const auto& window = request.attributes.get<Shape>("window");
  const auto& strides = request.attributes.get<Shape>("strides");
  const auto& padding = request.attributes.get<Shape>("padding");
  return {x[0], x[1], x[2], x[3], y[1], y[2], window[0], window[1], strides[0], strides[1], padding[0], padding[2]};
}

}  // namespace mezzo::reference
