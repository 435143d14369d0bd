#pragma once
#include <cstdint>

#include <mezzo/core/api.hpp>
#include <mezzo/core/shape.hpp>
#include <mezzo/core/size.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo {

/// @name Properties
/// @{
/// Sizes of the axes as scalars, one for each axis: `shape(x)[1]`. A size that isn't known yet, in a functional model,
/// is a symbol whose number is set in each call of the model; any other one is a weak integer. Ops of integers alone
/// (`shape(x)[0] + 1`, `floor_divide(shape(x)[1], 2)`) return weak integers again. Sizes and their results can be
/// passed to `arange`, `zeros`, `ones`, `full`, `eye`, `tri`, `tile`, `repeat`, `reshape`, `broadcast_to` and to the
/// functions of `random`, also beside numbers: `zeros({shape(x)[0], 1, 8})`.
MEZZO_API Values shape(const Value& x);

/// Number of elements; unknown if a size is not known.
inline Size size(const Value& x) { return element_count(x.shape()); }

/// Number of axes.
inline std::int64_t ndim(const Value& x) { return static_cast<std::int64_t>(x.shape().size()); }
/// @}

}  // namespace mezzo
