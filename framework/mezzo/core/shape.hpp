#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>

namespace mezzo {

/// Sizes of the axes, outermost first. {} is a scalar. -1 is an unknown size (the batch axis of a functional graph).
using Shape = std::vector<std::int64_t>;

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
