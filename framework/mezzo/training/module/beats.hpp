#pragma once
#include <optional>

#include <mezzo/core/api.hpp>

namespace mezzo::detail {

/// True if `value` beats `reference`: it is larger, if larger numbers are better, else smaller. NaN beats nothing. Any
/// number beats NaN and no reference.
MEZZO_API bool beats(double value, const std::optional<double>& reference, bool rises);

}  // namespace mezzo::detail
