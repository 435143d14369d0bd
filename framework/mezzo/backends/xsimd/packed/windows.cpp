#include <mezzo/backends/xsimd/packed/windows.hpp>

#include <algorithm>
#include <cstring>

#include <mezzo/backends/common/kernel.hpp>

namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

/// Most rows of a line of a matrix: whole blocks of products for each instruction set.
constexpr Index matrix_rows = 96;
constexpr Index fewest_matrix_rows = 24;  // of a thread

}  // namespace

void Windows::pad(const char* from, Index size, char* to) const {
  const Index bytes = channels * size, row = padded_width * bytes, inner = width * bytes;
  parallel_for(images * padded_height, grain_of(padded_width * channels), [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      char* const out = to + i * row;
      const Index y = i % padded_height - top;
      if (y < 0 || y >= height) {
        std::memset(out, 0, static_cast<std::size_t>(row));
        continue;
      }
      const char* const in = from + (i / padded_height * height + y) * inner;
      const Index kept = std::min(inner, row - left * bytes);
      std::memset(out, 0, static_cast<std::size_t>(left * bytes));
      std::memcpy(out + left * bytes, in, static_cast<std::size_t>(kept));
      std::memset(out + left * bytes + kept, 0, static_cast<std::size_t>(row - left * bytes - kept));
    }
  });
}

Windows windows_of_convolution(const KernelRequest& request) {
  const Shape &x = request.inputs[0].shape, &kernel = request.inputs[1].shape, &y = request.outputs[0].shape;
  const auto& strides = request.attributes.get<Shape>("strides");
  const auto& padding = request.attributes.get<Shape>("padding");
  const bool pads = padding != Shape{0, 0, 0, 0};
  if (kernel[0] == 1 && kernel[1] == 1 && strides == Shape{1, 1} && !pads) return windows_of_rows(x);
  Windows w;
  w.images = x[0], w.height = x[1], w.width = x[2], w.channels = x[3];
  w.lines = y[0] * y[1], w.rows = w.last_rows = y[2];
  w.lines_of_image = y[1];
  const Index height = x[1] + padding[0] + padding[1], width = x[2] + padding[2] + padding[3];
  if (pads) {
    w.padded_height = height, w.padded_width = width;
    w.top = padding[0], w.left = padding[2];
  }
  w.x_width = strides[1] * x[3];
  w.segments = kernel[0], w.x_segment = width * x[3], w.depth = kernel[1] * x[3];
  w.line_pitch = strides[0] * w.x_segment, w.image_pitch = height * w.x_segment;
  return w;
}

Windows windows_of_rows(const Shape& x) {
  Windows w;
  const Index width = x.back(), rows = element_count(x) / std::max<Index>(1, width);
  const Index threads = std::min<Index>(thread_count(), rows / fewest_matrix_rows);
  const Index most = std::max<Index>({1, threads, (rows + matrix_rows - 1) / matrix_rows});
  w.rows = std::max<Index>(1, (rows + most - 1) / most);
  w.lines = (rows + w.rows - 1) / w.rows, w.last_rows = rows - (w.lines - 1) * w.rows;
  w.x_width = w.depth = width;
  w.line_pitch = w.rows * width;
  w.lines_of_image = std::max<Index>(1, w.lines);
  return w;
}

}  // namespace mezzo::xsimd_kernels
