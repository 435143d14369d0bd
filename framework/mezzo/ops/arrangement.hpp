#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/shape.hpp>
#include <mezzo/graph/value.hpp>
#include <mezzo/ops/ints.hpp>
#include <mezzo/ops/shape.hpp>

namespace mezzo {

/// @cond
namespace detail {
MEZZO_API Values split_evenly(const Value& x, std::int64_t sections, std::int64_t axis);
MEZZO_API Value repeat_by_size(const Value& x, const Value& repeats, std::optional<std::int64_t> axis);
}  // namespace detail
/// @endcond

/// @name Axes
/// Axes may be negative: counted from the end. Throws a ShapeError for an axis that doesn't exist.
/// @{
/// x with new axes of size 1, at these axes of the result.
MEZZO_API Value expand_dims(const Value& x, const detail::Ints& axis);
/// x without axes of size 1, by default all of them. Throws a ShapeError for an axis of another size.
MEZZO_API Value squeeze(const Value& x, const detail::Ints& axis = detail::Ints());
/// x with the axes `source` moved to the places `destination`; the others keep their order.
MEZZO_API Value moveaxis(const Value& x, const detail::Ints& source, const detail::Ints& destination);
MEZZO_API Value swapaxes(const Value& x, std::int64_t axis1, std::int64_t axis2);
/// x as a vector.
MEZZO_API Value ravel(const Value& x);
/// @}

/// @name Joined and split arrays
/// Values of different dtypes are promoted to the widest. Throws a ShapeError for shapes that don't fit.
/// @{
/// Values of one shape along a new axis.
MEZZO_API Value stack(const Values& values, std::int64_t axis = 0);
/// The slices of x along `axis`, without it.
MEZZO_API Values unstack(const Value& x, std::int64_t axis = 0);
/// concat, with Keras' name and default axis.
MEZZO_API Value concatenate(const Values& values, std::int64_t axis = 0);
/// concatenate of two values along an axis; without an axis, of both as vectors.
MEZZO_API Value append(const Value& x1, const Value& x2, std::optional<std::int64_t> axis = std::nullopt);
/// Along axis 1; vectors along axis 0.
MEZZO_API Value hstack(const Values& values);
/// Along axis 0; vectors are rows.
MEZZO_API Value vstack(const Values& values);
/// Along axis 2; vectors (N,) are (1, N, 1), matrices (M, N) are (M, N, 1).
MEZZO_API Value dstack(const Values& values);
/// x in pieces before the given indices along an axis, `array_split(x, {2, 5})`, as NumPy's function of that name.
MEZZO_API Values array_split(const Value& x, const Shape& indices, std::int64_t axis = 0);
/// x in `sections` pieces along an axis, whose sizes differ by at most 1: `array_split(x, 3)`.
template <class Number, class = std::enable_if_t<std::is_integral_v<Number>>>
Values array_split(const Value& x, Number sections, std::int64_t axis = 0) {
  return detail::split_evenly(x, static_cast<std::int64_t>(sections), axis);
}
/// @}

/// @name Repetition and order
/// @{
/// x repeated along each axis; missing numbers are 1, further ones make new axes in front.
MEZZO_API Value tile(const Value& x, const detail::Ints& repeats);
inline Value tile(const Value& x, std::initializer_list<std::int64_t> repeats) {
  return tile(x, detail::Ints(repeats));
}
/// The same, with numbers that may come from shape().
MEZZO_API Value tile(const Value& x, const Values& repeats);
/// Each element repeated along an axis, by one number or by one for each element; without an axis, of x as a vector.
MEZZO_API Value repeat(const Value& x, const detail::Ints& repeats, std::optional<std::int64_t> axis = std::nullopt);
/// The same, by a number that may come from shape().
template <class Number, class = std::enable_if_t<std::is_same_v<Number, Value>>>
Value repeat(const Value& x, const Number& repeats, std::optional<std::int64_t> axis = std::nullopt) {
  return detail::repeat_by_size(x, repeats, axis);
}
/// Elements moved by `shift` places along the axes, those beyond the end to the beginning; without an axis, of x as a
/// vector, in x's shape.
MEZZO_API Value roll(const Value& x, const detail::Ints& shift, const detail::Ints& axis = detail::Ints());
/// The order of elements reversed along axes, by default all.
MEZZO_API Value flip(const Value& x, const detail::Ints& axis = detail::Ints());
MEZZO_API Value fliplr(const Value& x);
MEZZO_API Value flipud(const Value& x);
/// x rotated k times by 90 degrees in the plane of two axes, from the first towards the second.
MEZZO_API Value rot90(const Value& x, std::int64_t k = 1, std::pair<std::int64_t, std::int64_t> axes = {0, 1});
/// @}

/// @name Triangles and diagonals
/// Diagonal k (or `offset`) lies above the main diagonal if positive, below if negative.
/// @{
/// x with zeros above diagonal k of its last two axes.
MEZZO_API Value tril(const Value& x, std::int64_t k = 0);
/// x with zeros below diagonal k of its last two axes.
MEZZO_API Value triu(const Value& x, std::int64_t k = 0);
/// Makes a matrix with a vector on diagonal k, or returns diagonal k of a matrix.
MEZZO_API Value diag(const Value& x, std::int64_t k = 0);
/// The matrix with x as a vector on diagonal k.
MEZZO_API Value diagflat(const Value& x, std::int64_t k = 0);
/// Diagonals of the planes of two axes, along a new last axis.
MEZZO_API Value diagonal(const Value& x, std::int64_t offset = 0, std::int64_t axis1 = 0, std::int64_t axis2 = 1);
/// Sum of diagonal.
MEZZO_API Value trace(const Value& x, std::int64_t offset = 0, std::int64_t axis1 = 0, std::int64_t axis2 = 1);
/// @}

/// Coordinate arrays of a grid, one for each vector. `indexing`: "xy", where the first vector runs along axis 1, or
/// "ij".
MEZZO_API Values meshgrid(const Values& vectors, const char* indexing = "xy");

}  // namespace mezzo
