#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace mezzo {

/// Sizes of the axes, outermost first; {} is a scalar. -1 is a size that isn't known yet (the batch of a functional
/// graph).
using Shape = std::vector<std::int64_t>;

/// "(32, 28, 28, 1)", "(3,)", "()"; an unknown size prints as "?".
std::string to_string(const Shape& shape);

/// Product of the sizes; 1 for a scalar, -1 as soon as one size is unknown.
std::int64_t element_count(const Shape& shape);

/// The shape that two operands meet in, by numpy's rules: axes are aligned at the end, and 1 stretches. An unknown
/// size meets 1 and itself. Throws a ShapeError that starts with `where`.
Shape broadcast(const Shape& a, const Shape& b, const std::string& where);

/// Distances in elements between neighbours along each axis, in row-major order.
Shape row_major_strides(const Shape& shape);

/// The permutation that undoes one: entry permutation[i] is i.
Shape inverse_permutation(const Shape& permutation);

/// `axis` counted from the front; negative axes count from the end. Throws a ShapeError that starts with `where`.
std::int64_t normalize_axis(std::int64_t axis, std::size_t rank, const std::string& where);

}  // namespace mezzo
