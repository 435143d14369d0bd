#pragma once
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/tensor.hpp>
#include <mezzo/graph/value.hpp>

// Elements by index: x(i, j), x(slice(1, 3), all), as NumPy's x[...].
namespace mezzo {

struct ReduceOptions;

namespace detail {
/// Indices from `start` up to, but without, `stop`, `step` apart, as Python's slice. Negative ones count from the end;
/// those outside of the axis are moved to its ends.
struct Slice {
  std::optional<std::int64_t> start{};  ///< default: the first element, or the last one for a negative step
  std::optional<std::int64_t> stop{};   ///< default: up to the last element, or the first one for a negative step
  std::optional<std::int64_t> step{};   ///< default: 1
};
}  // namespace detail

/// Python's start:stop:step. An open end is std::nullopt: `slice(1, std::nullopt)`, `slice(std::nullopt, 5)`,
/// `slice(std::nullopt, std::nullopt, -1)`.
inline detail::Slice slice(std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
                           std::optional<std::int64_t> step = std::nullopt) {
  return {start, stop, step};
}
/// Python's :stop.
inline detail::Slice slice(std::optional<std::int64_t> stop) { return {std::nullopt, stop, std::nullopt}; }

namespace detail {
struct NewAxis {};
struct Ellipsis {};
}  // namespace detail
/// A new axis of size 1, as numpy.newaxis.
inline constexpr detail::NewAxis newaxis{};
/// All axes that the other indices don't name, as Python's "...".
inline constexpr detail::Ellipsis ellipsis{};

namespace detail {
/// One index of x(...). It is one of these:
/// - an integer, negative ones from the end: removes the axis. Outside of the axis: a ValueError;
/// - `slice(start, stop, step)`, or `all`, the function: all elements;
/// - `newaxis`, `ellipsis`;
/// - an array of integers: the axis is replaced by the axes of the array, in place. Indices out of range are a
///   ValueError when the step runs. One array at most.
///
/// Axes without an index are taken whole. An axis whose size is not known, the batch axis of a functional graph,
/// accepts only `all`.
class MEZZO_API Index {
 public:
  enum class Kind { integer, slice, new_axis, rest, array };

  template <class I, class = std::enable_if_t<std::is_integral_v<I> && !std::is_same_v<I, bool>>>
  Index(I index) : kind_(Kind::integer), integer_(static_cast<std::int64_t>(index)) {}
  Index(const Slice& range) : kind_(Kind::slice), slice_(range) {}
  Index(NewAxis) : kind_(Kind::new_axis) {}
  Index(Ellipsis) : kind_(Kind::rest) {}
  Index(const Value& indices) : kind_(Kind::array), array_(indices) {}
  Index(const Tensor& indices) : kind_(Kind::array), array_(indices) {}
  /// The function `all`: every element. Throws a ValueError for another function.
  Index(Value (*all)(const Value&, const ReduceOptions&));

  Kind kind() const { return kind_; }
  std::int64_t integer() const { return integer_; }
  const Slice& range() const { return slice_; }
  const Value& array() const { return array_; }

 private:
  Kind kind_ = Kind::slice;
  std::int64_t integer_ = 0;
  Slice slice_;
  Value array_;
};
}  // namespace detail

/// @cond
namespace detail {
template <class... Indices>
using IfIndices = std::enable_if_t<(std::is_convertible_v<const Indices&, Index> && ...)>;
MEZZO_API Value item_of(const Value& x, const std::vector<Index>& indices);
MEZZO_API Tensor item_of_tensor(const Tensor& x, const std::vector<Index>& indices);
}  // namespace detail
/// @endcond

/// x(indices...), with Keras' name. The result is constant, so that an assignment to it doesn't compile: it would not
/// change x. Throws a ShapeError for more indices than axes, a ValueError for an index out of range, a step of 0, two
/// ellipses or two arrays, a DTypeError for an array that does not hold integers.
template <class... Indices, class = detail::IfIndices<Indices...>>
const Value get_item(const Value& x, const Indices&... indices) {
  return detail::item_of(x, {detail::Index(indices)...});
}
/// The same of a Tensor, computed at once, also while a step is traced.
template <class... Indices, class = detail::IfIndices<Indices...>>
const Tensor get_item(const Tensor& x, const Indices&... indices) {
  return detail::item_of_tensor(x, {detail::Index(indices)...});
}

}  // namespace mezzo
