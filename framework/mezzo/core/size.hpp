#pragma once
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <type_traits>

#include <mezzo/core/api.hpp>

namespace mezzo {

/// @cond
namespace detail {

/// Throws a ShapeError: the size of that axis is not known yet. Axis -1: an axis without a number.
[[noreturn]] MEZZO_API void fail_unknown_size(std::int64_t axis);

}  // namespace detail
/// @endcond

/// Size of one axis of a Value: an element of `x.shape()`. In functional models it is unknown for the batch and for
/// sizes that Input leaves open. Comparing, printing and passing an unknown size on to ops works: it equals -1.
/// Arithmetic with it and its conversion to a number are a ShapeError, because the number exists only in the run:
/// `shape(x)` in <mezzo/ops/shape.hpp> returns the sizes as Values.
class Size {
 public:
  /// A number of elements; -1 is an unknown size.
  template <class Integer, class = std::enable_if_t<std::is_integral_v<Integer>>>
  Size(Integer number) : number_(static_cast<std::int64_t>(number)) {}

  /// Size of the axis with that index.
  Size(std::int64_t number, std::size_t axis) : number_(number), axis_(static_cast<std::int64_t>(axis)) {}

  bool known() const { return number_ >= 0; }  ///< false: a size that is not known until the graph runs, stored as -1

  /// The number. Throws a ShapeError if it is unknown.
  operator std::int64_t() const {
    if (!known()) detail::fail_unknown_size(axis_);
    return number_;
  }

  /// The number, -1 if it is unknown.
  std::int64_t or_unknown() const { return number_; }

  /// "32"; "?" for an unknown size.
  MEZZO_API friend std::ostream& operator<<(std::ostream& out, const Size& size);

 private:
  std::int64_t number_;
  std::int64_t axis_ = -1;
};

/// @cond
namespace detail {

/// Type in which a Size and an A compute: A if that is floating, otherwise std::int64_t.
template <class A, class B>
using WithSize = std::enable_if_t<(std::is_same_v<A, Size> && (std::is_same_v<B, Size> || std::is_arithmetic_v<B>)) ||
                                      (std::is_arithmetic_v<A> && std::is_same_v<B, Size>),
                                  std::conditional_t<std::is_floating_point_v<A>, A,
                                                     std::conditional_t<std::is_floating_point_v<B>, B, std::int64_t>>>;

/// The operand of a comparison: -1 for an unknown size.
template <class Common, class A>
Common compared(const A& a) {
  if constexpr (std::is_same_v<A, Size>) {
    return static_cast<Common>(a.or_unknown());
  } else {
    return static_cast<Common>(a);
  }
}

/// The operand of arithmetic. Throws a ShapeError for an unknown size.
template <class Common, class A>
Common computed(const A& a) {
  if constexpr (std::is_same_v<A, Size>) {
    return static_cast<Common>(static_cast<std::int64_t>(a));
  } else {
    return static_cast<Common>(a);
  }
}

}  // namespace detail

template <class A, class B, class T = detail::WithSize<A, B>>
bool operator==(const A& a, const B& b) {
  return detail::compared<T>(a) == detail::compared<T>(b);
}
template <class A, class B, class T = detail::WithSize<A, B>>
bool operator!=(const A& a, const B& b) {
  return detail::compared<T>(a) != detail::compared<T>(b);
}
template <class A, class B, class T = detail::WithSize<A, B>>
bool operator<(const A& a, const B& b) {
  return detail::compared<T>(a) < detail::compared<T>(b);
}
template <class A, class B, class T = detail::WithSize<A, B>>
bool operator>(const A& a, const B& b) {
  return detail::compared<T>(a) > detail::compared<T>(b);
}
template <class A, class B, class T = detail::WithSize<A, B>>
bool operator<=(const A& a, const B& b) {
  return detail::compared<T>(a) <= detail::compared<T>(b);
}
template <class A, class B, class T = detail::WithSize<A, B>>
bool operator>=(const A& a, const B& b) {
  return detail::compared<T>(a) >= detail::compared<T>(b);
}

template <class A, class B, class T = detail::WithSize<A, B>>
T operator+(const A& a, const B& b) {
  return detail::computed<T>(a) + detail::computed<T>(b);
}
template <class A, class B, class T = detail::WithSize<A, B>>
T operator-(const A& a, const B& b) {
  return detail::computed<T>(a) - detail::computed<T>(b);
}
template <class A, class B, class T = detail::WithSize<A, B>>
T operator*(const A& a, const B& b) {
  return detail::computed<T>(a) * detail::computed<T>(b);
}
template <class A, class B, class T = detail::WithSize<A, B>>
T operator/(const A& a, const B& b) {
  return detail::computed<T>(a) / detail::computed<T>(b);
}
template <class A, class B, class T = detail::WithSize<A, B>>
T operator%(const A& a, const B& b) {
  return detail::computed<T>(a) % detail::computed<T>(b);
}
inline std::int64_t operator-(const Size& size) { return -static_cast<std::int64_t>(size); }
/// @endcond

}  // namespace mezzo
