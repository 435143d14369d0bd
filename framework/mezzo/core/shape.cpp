#include <mezzo/core/shape.hpp>

#include <algorithm>
#include <ostream>

#include <mezzo/core/fail.hpp>

namespace mezzo {

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << to_string(shape); }

std::string to_string(const Shape& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += shape[i] < 0 ? "?" : fmt::format_int(shape[i]).str();
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  bool too_many = false;
  for (const auto size : shape) {
    if (size < 0) return -1;
    too_many |= __builtin_mul_overflow(count, size, &count);
  }
  if (!too_many) return count;
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  fail<ShapeError>("", "a shape must have less than 2^63 elements; got {}", shape);
}

Shape broadcast(const Shape& a, const Shape& b, const std::string& where) {
  const std::size_t rank = std::max(a.size(), b.size());
  Shape out(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const auto size = [&](const Shape& s) { return i + s.size() < rank ? 1 : s[i + s.size() - rank]; };
    const auto x = size(a);
    const auto y = size(b);
    if (x != y && x != 1 && y != 1 && x >= 0 && y >= 0) {
      fail<ShapeError>(where, "shapes must be equal or 1 on axis -{}; got {} and {}", rank - i, a, b);
    }
    out[i] = x == 1 || (x < 0 && y != 1) ? y : x;  // an unknown size is that of the other operand, unless that is
                                                   // stretched
  }
  return out;
}

void detail::fail_axis(std::int64_t axis, const Shape& shape) {
  if (shape.empty()) fail<ShapeError>("[Shape]", "axis {} of shape (): a scalar has no axes", axis);
  const auto rank = static_cast<std::int64_t>(shape.size());
  fail<ShapeError>("[Shape]", "axis {} of shape {}: an axis must lie in [{}, {})", axis, shape, -rank, rank);
}

void detail::fail_axis(std::uint64_t axis, const Shape& shape) {
  if (shape.empty()) fail<ShapeError>("[Shape]", "axis {} of shape (): a scalar has no axes", axis);
  fail<ShapeError>("[Shape]", "axis {} of shape {}: an unsigned axis must be below {}", axis, shape, shape.size());
}

Shape detail::row_major_strides(const Shape& shape) {
  Shape strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

Shape detail::inverse_permutation(const Shape& permutation) {
  Shape inverse(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); ++i) {
    inverse[static_cast<std::size_t>(permutation[i])] = static_cast<std::int64_t>(i);
  }
  return inverse;
}

std::int64_t detail::normalize_axis(std::int64_t axis, std::size_t rank, const std::string& where) {
  const auto n = static_cast<std::int64_t>(rank);
  if (axis < -n || axis >= n) {
    fail<ShapeError>(where, "axis must lie in [{}, {}); got {}", -n, n, axis);
  }
  return axis < 0 ? axis + n : axis;
}

}  // namespace mezzo
