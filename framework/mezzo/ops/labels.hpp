#pragma once
#include <mezzo/graph/value.hpp>

namespace mezzo::detail {

/// The integers or bools that x is a cast of, or a part or an arrangement of such a cast, if x is floating and a node
/// of a trace; else x. For operands that are classes, places or lengths, since losses and metrics get integer targets
/// as floats.
Value as_labels(const Value& x);

}  // namespace mezzo::detail
