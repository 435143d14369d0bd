#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <mezzo/core/shape.hpp>

// Codes of quantized weights, as the ops dequantize and quantized_matmul describe them. Codes of NF4 are those of 4
// bits, whose lowest 4 bits are the position in nf4_values.
namespace mezzo::detail {

/// Code `column` of a row of codes. 4 bits: an even column is the low half of its byte.
inline std::int32_t code_at(const std::int8_t* row, std::int64_t column, std::int64_t bits) {
  if (bits == 8) return row[column];
  const int pair = static_cast<std::uint8_t>(row[column / 2]);
  const int half = column % 2 == 0 ? pair & 15 : pair >> 4;
  return half < 8 ? half : half - 16;
}

/// Position in nf4_values of a code of 4 bits.
inline std::size_t nf4_position(std::int32_t code) { return static_cast<std::size_t>(code & 15); }

/// Bytes of a row of codes.
inline std::int64_t bytes_of_codes(std::int64_t columns, std::int64_t bits) {
  return bits == 4 ? (columns + 1) / 2 : columns;
}

/// Shape of the scales of an array of that shape: without `axes`, or with the number of blocks there if there is a
/// block size.
inline Shape shape_of_scales(const Shape& shape, const Shape& axes, std::int64_t block_size) {
  Shape out;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const bool shared = std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(axis)) != axes.end();
    if (!shared) out.push_back(shape[axis]);
    if (shared && block_size > 0) out.push_back((shape[axis] + block_size - 1) / block_size);
  }
  return out;
}

/// Positions of the scales of codes.
class ScalePositions {
 public:
  /// `shape`: of the codes' numbers.
  ScalePositions(Shape shape, const Shape& axes, std::int64_t block_size)
      : shape_(std::move(shape)), stride_(shape_.size(), 0), width_(shape_.size(), 1) {
    std::int64_t count = 1;
    for (std::size_t axis = shape_.size(); axis-- > 0;) {
      const bool shared = std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(axis)) != axes.end();
      if (shared && block_size <= 0) continue;
      if (shared) width_[axis] = block_size;
      stride_[axis] = count;
      count *= (shape_[axis] + width_[axis] - 1) / width_[axis];
    }
  }

  /// Position of the first scale of a row, which is the row's number in all axes but the last.
  std::int64_t of_row(std::int64_t row) const {
    std::int64_t position = 0;
    for (std::size_t axis = shape_.size() - 1; axis-- > 0;) {
      position += row % shape_[axis] / width_[axis] * stride_[axis];
      row /= shape_[axis];
    }
    return position;
  }

  /// Position of a column's scale after that of its row.
  std::int64_t of_column(std::int64_t column) const { return column / width_.back() * stride_.back(); }

  /// Columns with one scale: 0 for all.
  std::int64_t run() const { return stride_.back() == 0 ? 0 : width_.back(); }

 private:
  Shape shape_;
  std::vector<std::int64_t> stride_, width_;
};

}  // namespace mezzo::detail
