#pragma once
#include <mezzo/graph/value.hpp>

namespace mezzo::detail {

/// The integers or bools behind x, if x is a floating node of a trace and a cast of them, or a part or an arrangement
/// of such a cast; else x. For operands that are classes, places or lengths, since losses and metrics receive integer
/// targets as floats.
Value as_labels(const Value& x);

}  // namespace mezzo::detail
