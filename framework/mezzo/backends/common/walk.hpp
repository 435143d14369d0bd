#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include <mezzo/core/shape.hpp>

namespace mezzo::reference {

/// A row-major walk over `shape` in which each operand moves by its own strides (0 where it is stretched).
/// Axes that every operand crosses evenly are merged; the last one left is the row.
class Walk {
 public:
  Walk(const Shape& shape, const std::vector<Shape>& strides);

  std::int64_t size() const { return rows_ * row_size_; }
  std::int64_t rows() const { return rows_; }

  /// Axes that are left after merging, the row among them.
  std::size_t axes() const { return shape_.size(); }
  std::int64_t row_size() const { return row_size_; }

  /// How far the operand moves from one element of a row to the next.
  std::int64_t step(std::size_t operand) const { return strides_[operand].back(); }

  /// Where the operand is at the beginning of a row.
  std::int64_t offset(std::size_t operand, std::int64_t row) const;

  /// Calls body(element, count, row, column) for each piece of a row in [begin, end).
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

/// Strides by which a dense array of shape `from` is read as if it were of shape `to`, numpy's rules.
Shape broadcast_strides(const Shape& from, const Shape& to);

}  // namespace mezzo::reference
