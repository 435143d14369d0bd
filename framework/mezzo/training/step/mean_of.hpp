#pragma once
#include <mezzo/graph/value.hpp>

namespace mezzo::detail {

/// Mean of a loss or a metric as a scalar of at least float32.
Value mean_of(const Value& value);

}  // namespace mezzo::detail
