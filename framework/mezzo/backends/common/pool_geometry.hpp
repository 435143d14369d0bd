#pragma once
#include <cstdint>

#include <mezzo/compiler/kernel.hpp>

namespace mezzo::reference {

/// Sizes of images before and after pooling, with the attributes window, strides and padding.
struct PoolGeometry {
  std::int64_t batch, height, width, channels, out_height, out_width;
  std::int64_t window_height, window_width, stride_height, stride_width, top, left;

  /// Computes the offset in an image of x of place `place` in the window of output (row, column). Returns false if
  /// that place is in the padding.
  bool locate(std::int64_t row, std::int64_t column, std::int64_t place, std::int64_t& offset) const {
    const std::int64_t h = row * stride_height - top + place / window_width;
    const std::int64_t w = column * stride_width - left + place % window_width;
    offset = (h * width + w) * channels;
    return h >= 0 && h < height && w >= 0 && w < width;
  }
};

/// The geometry of pooling x to y.
inline PoolGeometry pool_geometry(const KernelRequest& request, const Shape& x, const Shape& y) {
  const auto& window = request.attributes.get<Shape>("window");
  const auto& strides = request.attributes.get<Shape>("strides");
  const auto& padding = request.attributes.get<Shape>("padding");
  return {.batch = x[0],
          .height = x[1],
          .width = x[2],
          .channels = x[3],
          .out_height = y[1],
          .out_width = y[2],
          .window_height = window[0],
          .window_width = window[1],
          .stride_height = strides[0],
          .stride_width = strides[1],
          .top = padding[0],
          .left = padding[2]};
}

}  // namespace mezzo::reference
