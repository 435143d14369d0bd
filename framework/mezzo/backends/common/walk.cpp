#include <mezzo/backends/common/walk.hpp>

namespace mezzo {

Walk::Walk(const Shape& shape, const std::vector<Shape>& strides) : strides_(strides.size()) {
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 1) continue;
    bool even = !shape_.empty();
    for (std::size_t k = 0; even && k < strides.size(); ++k) {
      even = strides_[k].back() == strides[k][axis] * shape[axis];
    }
    if (even) {
      shape_.back() *= shape[axis];
    } else {
      shape_.push_back(shape[axis]);
    }
    for (std::size_t k = 0; k < strides.size(); ++k) {
      if (!even) strides_[k].push_back(0);
      strides_[k].back() = strides[k][axis];
    }
  }
  if (shape_.empty()) {
    shape_.push_back(1);
    for (Shape& steps : strides_) steps.push_back(1);
  }
  row_size_ = shape_.back();
  for (std::size_t axis = 0; axis + 1 < shape_.size(); ++axis) rows_ *= shape_[axis];
}

std::int64_t Walk::offset(std::size_t operand, std::int64_t row) const {
  std::int64_t offset = 0;
  for (std::size_t axis = shape_.size() - 1; axis-- > 0;) {
    offset += row % shape_[axis] * strides_[operand][axis];
    row /= shape_[axis];
  }
  return offset;
}

Shape broadcast_strides(const Shape& from, const Shape& to) {
  const Shape own = detail::row_major_strides(from);
  Shape strides(to.size(), 0);
  const std::size_t skipped = to.size() - from.size();
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    if (from[axis] != 1) strides[skipped + axis] = own[axis];
  }
  return strides;
}

}  // namespace mezzo
