#pragma once
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>

namespace mezzo {

class Shape;

/// @cond
namespace detail {

/// Throws a ShapeError that names the axis and the shape.
[[noreturn]] MEZZO_API void fail_axis(std::int64_t axis, const Shape& shape);
[[noreturn]] MEZZO_API void fail_axis(std::uint64_t axis, const Shape& shape);  ///< of an unsigned index

/// Number of an index: that of an enum is of its underlying type.
template <class Axis>
constexpr auto number_of_axis(Axis axis) {
  static_assert(
      std::is_convertible_v<Axis, std::int64_t> && !std::is_floating_point_v<Axis> && !std::is_same_v<Axis, bool>,
      "an index of a Shape must be an integer");
  if constexpr (std::is_enum_v<Axis>) {
    return number_of_axis(static_cast<std::underlying_type_t<Axis>>(axis));
  } else if constexpr (std::is_unsigned_v<Axis>) {
    return static_cast<std::uint64_t>(axis);
  } else {
    return static_cast<std::int64_t>(axis);
  }
}

}  // namespace detail
/// @endcond

/// Sizes of the axes, outermost first. {} is a scalar. -1 is an unknown size (the batch axis of a functional graph).
/// A std::vector whose indices are checked and may count from the end, as in numpy: shape[-1] is the last size.
class MEZZO_API Shape : public std::vector<std::int64_t> {
 public:
  using std::vector<std::int64_t>::vector;
  Shape() = default;
  Shape(std::vector<std::int64_t> sizes) noexcept : vector(std::move(sizes)) {}  ///< these sizes

  /// Size of the axis; a negative one is counted from the end. Throws a ShapeError unless it lies in [-rank, rank).
  template <class Axis>
  reference operator[](Axis axis) {
    return data()[from_front(axis)];
  }
  template <class Axis>
  const_reference operator[](Axis axis) const {
    return data()[from_front(axis)];
  }
  template <class Axis>
  reference at(Axis axis) {
    return data()[from_front(axis)];
  }
  template <class Axis>
  const_reference at(Axis axis) const {
    return data()[from_front(axis)];
  }

  reference front() { return (*this)[0]; }              ///< size of the first axis; a ShapeError for rank 0
  const_reference front() const { return (*this)[0]; }  ///< the same
  reference back() { return (*this)[-1]; }              ///< size of the last axis; a ShapeError for rank 0
  const_reference back() const { return (*this)[-1]; }  ///< the same

  /// Index of the axis, counted from the front. Throws a ShapeError unless the axis lies in [-rank, rank).
  template <class Axis>
  std::size_t from_front(Axis axis) const {
    const auto number = detail::number_of_axis(axis);
    auto index = static_cast<std::size_t>(number);
    if constexpr (std::is_signed_v<decltype(number)>) {
      if (number < 0) index += size();
    }
    if (index >= size()) detail::fail_axis(number, *this);
    return index;
  }

  /// Writes to_string().
  MEZZO_API friend std::ostream& operator<<(std::ostream& out, const Shape& shape);
};

/// "(32, 28, 28, 1)", "(3,)", "()"; an unknown size prints as "?".
MEZZO_API std::string to_string(const Shape& shape);

/// Product of the sizes: 1 for a scalar, -1 if a size is unknown. Throws a ShapeError for 2^63 elements or more.
MEZZO_API std::int64_t element_count(const Shape& shape);

/// Broadcast shape of two operands, by numpy's rules: axes are aligned at the end, and size 1 broadcasts. An unknown
/// size broadcasts with 1 and with an unknown size only. Throws a ShapeError that starts with `where`.
MEZZO_API Shape broadcast(const Shape& a, const Shape& b, const std::string& where);

namespace detail {
/// Row-major strides of a contiguous array, in elements.
MEZZO_API Shape row_major_strides(const Shape& shape);

/// Inverse of a permutation: entry permutation[i] is i.
MEZZO_API Shape inverse_permutation(const Shape& permutation);

/// Converts an axis that may be negative (counted from the end) to its index from the front. Throws a ShapeError that
/// starts with `where`.
MEZZO_API std::int64_t normalize_axis(std::int64_t axis, std::size_t rank, const std::string& where);
}  // namespace detail

}  // namespace mezzo
