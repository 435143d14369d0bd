#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include <mezzo/core/shape.hpp>

namespace mezzo {

/// A row-major walk over `shape` in which each operand moves by its own strides, which are 0 on broadcast axes.
/// Neighbouring axes are merged if the strides of all operands allow it; the last axis after merging is the row.
class Walk {
 public:
  Walk(const Shape& shape, const std::vector<Shape>& strides);

  std::int64_t size() const { return rows_ * row_size_; }
  std::int64_t rows() const { return rows_; }

  /// Number of axes after merging, including the row.
  std::size_t axes() const { return shape_.size(); }
  std::int64_t row_size() const { return row_size_; }

  /// Size of an axis after merging.
  std::int64_t axis_size(std::size_t axis) const { return shape_[axis]; }

  /// Stride of the operand along a row, in elements.
  std::int64_t step(std::size_t operand) const { return strides_[operand].back(); }

  /// Offset of the operand at the beginning of a row, in elements.
  std::int64_t offset(std::size_t operand, std::int64_t row) const;

  /// Splits the elements [begin, end) at the ends of rows. Calls body(first element, count, row, column) for each part.
  template <class Body>
  void pieces(std::int64_t begin, std::int64_t end, const Body& body) const {
    for (std::int64_t i = begin; i < end;) {
      const std::int64_t column = i % row_size_;
      const std::int64_t count = std::min(row_size_ - column, end - i);
      body(i, count, i / row_size_, column);
      i += count;
    }
  }

 private:
  Shape shape_;
  std::vector<Shape> strides_;
  std::int64_t rows_ = 1;
  std::int64_t row_size_ = 1;
};

/// Strides that broadcast a dense array of shape `from` to shape `to`, by numpy's rules.
Shape broadcast_strides(const Shape& from, const Shape& to);

}  // namespace mezzo
