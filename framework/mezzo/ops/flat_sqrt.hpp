#pragma once
#include <mezzo/graph/value.hpp>

namespace mezzo::detail {

/// Square root with the gradient 0 at 0.
Value flat_sqrt(const Value& x);

}  // namespace mezzo::detail
