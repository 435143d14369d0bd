#pragma once
#include <cstdint>

#include <mezzo/nn/optimizer.hpp>

namespace mezzo::detail {

/// Margin for rounding and sums in an optimizer's rule with squares of gradients: nothing is updated unless each
/// element is below largest_square_root() / room in magnitude. 0 for a rule without squares, and if an option clips
/// gradients.
double square_headroom(const Optimizer& optimizer);

/// Learning rate of the update that is `later` updates after the next. A ValueError if it is infinite or NaN.
double finite_learning_rate(const Optimizer& optimizer, std::int64_t later = 0);

}  // namespace mezzo::detail
