#pragma once
#include <mezzo/graph/value.hpp>

namespace mezzo::detail {

/// The integers or bools that x is a cast of, or a reshaped cast, if it is floating and a node of a trace; else x. For
/// operands that are classes or places, since losses and metrics get integer targets as floats.
Value as_labels(const Value& x);

}  // namespace mezzo::detail
