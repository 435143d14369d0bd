#pragma once
#include <mezzo/graph/value.hpp>

namespace mezzo::detail {

/// Targets as numbers to compute with: integers and bools become floats of at least float32, which as_labels() converts
/// back. Outside of a trace narrow integers become int32, and others stay. Both dtypes can hold 2 * t - 1 of a uint8 t.
Value number_targets(const Value& y_true, const Value& y_pred);

}  // namespace mezzo::detail
