#pragma once
#include <mezzo/nn/optimizer.hpp>

namespace mezzo::detail {

/// What to multiply one gradient by: the step's multiplier, and with clipnorm also what brings the unscaled gradient
/// down to that norm.
Value gradient_multiplier(const OptimizerCommon& common, const Value& gradient, const Optimizer::Step& step);

}  // namespace mezzo::detail
