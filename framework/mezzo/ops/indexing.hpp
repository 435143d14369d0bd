#pragma once
#include <cstdint>
#include <optional>

#include <mezzo/core/api.hpp>
#include <mezzo/core/shape.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo {

/// @name Elements by index
/// Indices are integers of any dtype; those from -size on count from the end. An index out of range is a ValueError
/// when the step runs, before anything is updated.
/// @{

/// Slices of x along `axis`, selected by `indices` of any shape: (..., indices.shape, ...). Without an axis: elements
/// of x as a vector.
MEZZO_API Value take(const Value& x, const Value& indices, std::optional<std::int64_t> axis = std::nullopt);

/// Elements of each line along `axis`, selected by `indices` of x's rank; other axes broadcast. Without an axis:
/// elements of x as a vector, by a vector of indices.
MEZZO_API Value take_along_axis(const Value& x, const Value& indices, std::optional<std::int64_t> axis = std::nullopt);
/// @}

/// The box of x with the given shape whose first element is at `start_indices`, one number for each axis. A size of -1
/// reaches up to the end. Throws a ShapeError unless the box lies inside x.
MEZZO_API Value slice(const Value& x, const Shape& start_indices, const Shape& shape);

/// The same with start indices (integers, one for each axis) that are known only when the step runs. A box that is not
/// inside x is a ValueError then.
MEZZO_API Value dynamic_slice(const Value& x, const Value& start_indices, const Shape& shape);

/// x with the box from `start_indices` on replaced by `updates`. Throws a ShapeError unless the box lies inside x.
MEZZO_API Value slice_update(const Value& x, const Shape& start_indices, const Value& updates);

/// Zeros of `shape` to which values are added: `indices` (..., K) name elements, or slices if K is less than the rank,
/// `values` is (..., shape[K:]). Values with equal indices are summed. Indices must be in [0, size).
MEZZO_API Value scatter(const Value& indices, const Value& values, const Shape& shape);

/// x with elements, or slices, replaced: `indices` (..., K) and `updates` (..., x.shape[K:]) as in scatter. For equal
/// indices the last update is used and has the gradient. With reduction "add", the updates are added. Throws a
/// NameError for another reduction.
MEZZO_API Value scatter_update(const Value& x, const Value& indices, const Value& updates,
                               const char* reduction = nullptr);

/// @name By segments
/// Rows of data (N, ...) are combined by the segment of each, `segment_ids` (N,) in [0, num_segments); the result is
/// (num_segments, ...). `num_segments` may be left out for concrete ids: largest id + 1.
/// @{
/// Sums; 0 for a segment without rows.
MEZZO_API Value segment_sum(const Value& data, const Value& segment_ids,
                            std::optional<std::int64_t> num_segments = std::nullopt);
/// Largest elements; -infinity, or the least integer, for a segment without rows. Equal elements share the gradient.
MEZZO_API Value segment_max(const Value& data, const Value& segment_ids,
                            std::optional<std::int64_t> num_segments = std::nullopt);
/// Smallest elements; infinity for a segment without rows. For floats.
MEZZO_API Value segment_min(const Value& data, const Value& segment_ids,
                            std::optional<std::int64_t> num_segments = std::nullopt);
/// @}

/// 1 at the index that x holds, 0 elsewhere, along a new axis of `num_classes`. Zeros for an index outside of the
/// classes. x must be integers.
MEZZO_API Value one_hot(const Value& x, std::int64_t num_classes, std::int64_t axis = -1, DType dtype = DType::float32);

/// 1 at all indices that a row of x (batch, indices) or x (indices,) holds, 0 elsewhere: (batch, num_classes).
MEZZO_API Value multi_hot(const Value& x, std::int64_t num_classes, std::int64_t axis = -1,
                          DType dtype = DType::float32);

}  // namespace mezzo
