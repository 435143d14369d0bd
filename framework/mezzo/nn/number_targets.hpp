#pragma once
#include <mezzo/graph/value.hpp>

namespace mezzo::detail {

/// Targets as numbers to compute with: integers and bools as floats of at least float32, of which as_labels() returns
/// the integers again. Outside of a trace narrow integers become int32, and others stay. Both hold 2 * t - 1 of uint8.
Value number_targets(const Value& y_true, const Value& y_pred);

}  // namespace mezzo::detail
