#pragma once
#include <cstddef>
#include <iosfwd>

#include <mezzo/core/api.hpp>
#include <mezzo/core/shape.hpp>
#include <mezzo/core/size.hpp>

namespace mezzo {

/// Sizes of a Value's axes, as `x.shape()` returns them: a view of its Shape, to which it converts. Elements are Sizes,
/// so that nothing computes with a size that isn't known yet. The Shape and the iterators have -1 in its place.
class ShapeView {
 public:
  /// A view of that Shape, which must outlive it.
  explicit ShapeView(const Shape& shape) : shape_(&shape) {}
  explicit ShapeView(Shape&&) = delete;  ///< a temporary Shape ends before its view

  operator const Shape&() const { return *shape_; }  ///< valid as long as the Shape

  /// Size of the axis; a negative one is counted from the end. Throws a ShapeError unless it lies in [-rank, rank).
  template <class Axis>
  Size operator[](Axis axis) const {
    const std::size_t index = shape_->from_front(axis);
    return Size((*shape_)[index], index);
  }
  template <class Axis>
  Size at(Axis axis) const {
    return (*this)[axis];
  }

  Size front() const { return (*this)[0]; }  ///< size of the first axis; a ShapeError for rank 0
  Size back() const { return (*this)[-1]; }  ///< size of the last axis; a ShapeError for rank 0

  /// Number of axes.
  std::size_t size() const { return shape_->size(); }
  bool empty() const { return shape_->empty(); }

  Shape::const_iterator begin() const { return shape_->begin(); }
  Shape::const_iterator end() const { return shape_->end(); }

  friend bool operator==(const ShapeView& a, const ShapeView& b) { return *a.shape_ == *b.shape_; }
  friend bool operator==(const ShapeView& a, const Shape& b) { return *a.shape_ == b; }
  friend bool operator==(const Shape& a, const ShapeView& b) { return a == *b.shape_; }
  friend bool operator!=(const ShapeView& a, const ShapeView& b) { return *a.shape_ != *b.shape_; }
  friend bool operator!=(const ShapeView& a, const Shape& b) { return *a.shape_ != b; }
  friend bool operator!=(const Shape& a, const ShapeView& b) { return a != *b.shape_; }

  /// "(32, 28, 28, 1)"; an unknown size prints as "?".
  MEZZO_API friend std::ostream& operator<<(std::ostream& out, const ShapeView& shape);

 private:
  const Shape* shape_;
};

}  // namespace mezzo
