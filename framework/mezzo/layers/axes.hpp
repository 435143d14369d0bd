#pragma once
#include <cstddef>
#include <numeric>
#include <string>

#include <mezzo/nn/checks.hpp>
#include <mezzo/ops/open_sizes.hpp>
#include <mezzo/ops/ops.hpp>
#include <mezzo/ops/spatial_axes.hpp>

// Checks of layers for 1 to 3 spatial axes. `where` starts the errors.
namespace mezzo::detail {

/// Throws a ShapeError unless the input has this number of spatial axes, a batch and channels.
inline void require_spatial(const std::string& where, const Shape& input, std::size_t axes) {
  const char* const names[] = {"(batch, steps, channels)", "(batch, height, width, channels)",
                               "(batch, depth, height, width, channels)"};
  require_rank(where, input, axes + 2, names[axes - 1]);
}

/// Axes of a kernel (spatial axes..., a, b) in the order of weight files: (b, a, spatial axes...).
inline Shape kernel_file_axes(std::size_t axes) {
  const auto count = static_cast<std::int64_t>(axes);
  Shape out{count + 1, count};
  for (std::int64_t i = 0; i < count; ++i) out.push_back(i);
  return out;
}

/// 0, 1, ..., count - 1: the axes that the product of a kernel (..., out) sums over.
inline Shape first_axes(std::size_t count) {
  Shape out(count);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

/// x with these axes in place of the last `count`.
inline Value with_last_axes(const Value& x, std::ptrdiff_t count, const Shape& axes) {
  const auto run = [=](const Value& y) {
    Shape shape(y.shape().begin(), y.shape().end() - count);
    shape.insert(shape.end(), axes.begin(), axes.end());
    return reshape(y, shape);
  };
  return with_sizes(run, x);
}

}  // namespace mezzo::detail
