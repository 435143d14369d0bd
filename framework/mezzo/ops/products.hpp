#pragma once
#include <cstdint>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/value.hpp>
#include <mezzo/ops/ints.hpp>

namespace mezzo {

/// Options of matmul.
struct MatmulOptions {
  bool transpose_a = false;  ///< swaps the last two axes of a
  bool transpose_b = false;  ///< swaps the last two axes of b
};

/// @name Products
/// Accumulated in float32 (float64 for float64). Products of integers are computed in float64, exact up to 2^53, and
/// have the operands' common dtype, except for matmul, whose result is a float of the scope's compute dtype. Throws a
/// ShapeError for shapes that don't fit.
/// @{

/// Matrix product (..., M, N) of a (..., M, K) and b (..., K, N). Leading axes broadcast; a vector a is a row, a vector
/// b a column, and that axis is left out of the result.
MEZZO_API Value matmul(const Value& a, const Value& b, const MatmulOptions& options = {});

/// Sum of products over the last axis of a and the last but one of b (the only one of a vector). A product of a scalar
/// is elementwise.
MEZZO_API Value dot(const Value& a, const Value& b);

/// Sum of the products of all elements of a and b as vectors.
MEZZO_API Value vdot(const Value& a, const Value& b);

/// Sum of products over the last axes of a and b.
MEZZO_API Value inner(const Value& a, const Value& b);

/// Products of each element of a and each element of b, as vectors: (size of a, size of b).
MEZZO_API Value outer(const Value& a, const Value& b);

/// Sum of products over the last `axes` axes of a and the first `axes` axes of b.
MEZZO_API Value tensordot(const Value& a, const Value& b, std::int64_t axes = 2);
/// Sum of products over axes of a and axes of b, in pairs.
MEZZO_API Value tensordot(const Value& a, const Value& b, const detail::Ints& axes_of_a, const detail::Ints& axes_of_b);

/// Sums of products by NumPy's notation: a letter names an axis of each operand, "..." the axes that broadcast; the
/// result has the letters after "->", the others are summed. Without "->" it has the letters that occur once, in
/// alphabetical order. A letter that an operand repeats names its diagonal. Runs as matrix products.
///
///     einsum("bqhd,bkhd->bhqk", {query, key})
///
/// Throws a ValueError for an invalid notation.
MEZZO_API Value einsum(const std::string& subscripts, const Values& operands);

/// Kronecker product: each element of a times b.
MEZZO_API Value kron(const Value& a, const Value& b);

/// Vector product of the vectors of 3 elements (or 2, with a third one of 0) along an axis; other axes broadcast.
MEZZO_API Value cross(const Value& a, const Value& b, std::int64_t axis = -1);
/// @}

namespace detail {
/// Matrix product of x (..., K) with at least 2 axes and a layer's kernel (K, N). Under a policy whose products() are
/// int8, rows of x and columns of the kernel are quantized to int8 (core/int8_scale.hpp), also in the gradient of x.
MEZZO_API Value matmul_of_kernel(const Value& x, const Value& kernel);
}  // namespace detail

}  // namespace mezzo
