#pragma once
#include <algorithm>
#include <cstdint>

#include <mezzo/compiler/kernel.hpp>

namespace mezzo::xsimd_kernels {

/// The windows of a convolution as rows of a product. A line is a row of the output, or some rows of a matrix; its
/// windows are x_width numbers apart. A window is a piece of `depth` numbers for each row of the kernel.
struct Windows {
  std::int64_t lines = 0, rows = 0, last_rows = 0;  ///< rows of a line, and of the last one
  std::int64_t x_width = 0, segments = 1, x_segment = 0, depth = 0;
  std::int64_t lines_of_image = 1, image_pitch = 0, line_pitch = 0;  ///< pitches in numbers

  /// @name Padded images; padded_height is 0 without padding
  /// @{
  std::int64_t images = 0, height = 0, width = 0, channels = 0;
  std::int64_t padded_height = 0, padded_width = 0, top = 0, left = 0;
  /// @}

  std::int64_t begin_of(std::int64_t line) const {
    return line / lines_of_image * image_pitch + line % lines_of_image * line_pitch;
  }
  std::int64_t rows_of(std::int64_t line) const { return line + 1 == lines ? last_rows : rows; }

  bool padded() const { return padded_height > 0; }
  std::int64_t padded_numbers() const { return images * padded_height * padded_width * channels; }

  /// Copies images of numbers of `size` bytes with their padding.
  void pad(const char* from, std::int64_t size, char* to) const;
};

Windows windows_of_convolution(const KernelRequest& request);

/// The rows of a matrix, or of a stack of matrices.
Windows windows_of_rows(const Shape& x);

/// Calls body(line, panel) for lines `begin` to `end` - 1 and all panels from `first` to `last` - 1. A panel meets so
/// many lines at a time that their numbers, `line_bytes` of each line, stay in the L2 cache.
template <class Body>
void for_lines_and_panels(std::int64_t begin, std::int64_t end, std::int64_t line_bytes, std::int64_t first,
                          std::int64_t last, const Body& body) {
  constexpr std::int64_t cached_bytes = 1 << 18;
  const std::int64_t at_once = std::max<std::int64_t>(1, cached_bytes / std::max<std::int64_t>(1, line_bytes));
  for (; begin < end; begin += at_once) {
    const std::int64_t lines_end = std::min(end, begin + at_once);
    for (std::int64_t panel = first; panel < last; ++panel) {
      for (std::int64_t line = begin; line < lines_end; ++line) body(line, panel);
    }
  }
}

}  // namespace mezzo::xsimd_kernels
