#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include <mezzo/compiler/kernel.hpp>

namespace mezzo::reference {

/// Sizes of a convolution of images.
struct Geometry {
  std::int64_t batch, height, width, channels;  // of x
  std::int64_t out_height, out_width, filters;
  std::int64_t kernel_height, kernel_width;
  std::int64_t stride_height, stride_width, top, left, dilation_height, dilation_width;
  std::int64_t groups, group_channels, group_filters;
};

inline Geometry geometry(const KernelRequest& request, const Shape& x, const Shape& kernel, const Shape& y) {
  const auto& strides = request.attributes.get<Shape>("strides");
  const auto& padding = request.attributes.get<Shape>("padding");
  const auto& dilation = request.attributes.get<Shape>("dilation");
  const auto groups = request.attributes.get<std::int64_t>("groups");
  return {.batch = x[0],
          .height = x[1],
          .width = x[2],
          .channels = x[3],
          .out_height = y[1],
          .out_width = y[2],
          .filters = y[3],
          .kernel_height = kernel[0],
          .kernel_width = kernel[1],
          .stride_height = strides[0],
          .stride_width = strides[1],
          .top = padding[0],
          .left = padding[2],
          .dilation_height = dilation[0],
          .dilation_width = dilation[1],
          .groups = groups,
          .group_channels = kernel[2],
          .group_filters = y[3] / groups};
}

/// A place in a batch of images.
struct Place {
  std::int64_t image, row, column;
};

/// The place with index i, counted row by row over the whole batch.
inline Place place_of(std::int64_t i, std::int64_t height, std::int64_t width) {
  return {i / (height * width), i / width % height, i % width};
}

/// Address of the channels of x under the kernel's place (r, s) when the kernel lies at `output`; null in the padding.
template <class T>
const T* under(const Geometry& g, const T* x, const Place& output, std::int64_t r, std::int64_t s) {
  const std::int64_t h = output.row * g.stride_height - g.top + r * g.dilation_height;
  const std::int64_t w = output.column * g.stride_width - g.left + s * g.dilation_width;
  if (h < 0 || h >= g.height || w < 0 || w >= g.width) return nullptr;
  return x + ((output.image * g.height + h) * g.width + w) * g.channels;
}

/// Address of the filters of y for which the kernel's place (r, s) lies on `input`; null if there is no such output.
template <class T>
const T* above(const Geometry& g, const T* y, const Place& input, std::int64_t r, std::int64_t s) {
  const std::int64_t h = input.row + g.top - r * g.dilation_height;
  const std::int64_t w = input.column + g.left - s * g.dilation_width;
  if (h < 0 || w < 0 || h % g.stride_height != 0 || w % g.stride_width != 0) return nullptr;
  const std::int64_t row = h / g.stride_height, column = w / g.stride_width;
  if (row >= g.out_height || column >= g.out_width) return nullptr;
  return y + ((input.image * g.out_height + row) * g.out_width + column) * g.filters;
}

/// The convolution, and the gradient for its input, of a request with the attribute products "int8" (int8_conv2d.cpp).
std::unique_ptr<Kernel> create_int8_conv2d(const KernelRequest& request, std::string& reason);
std::unique_ptr<Kernel> create_int8_conv2d_input_gradient(const KernelRequest& request, std::string& reason);

}  // namespace mezzo::reference
