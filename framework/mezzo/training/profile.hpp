#pragma once
#include <string>

#include <mezzo/compiler/plan.hpp>

namespace mezzo::detail {

/// Where the time of a plan's runs goes, means over all but the first: a line per kernel in the plan's order, with why
/// more special kernels were passed over, a line per chore; then the sums by op, the slowest first; then how much of
/// the step's wall time that is.
std::string profile_text(const Plan& plan);

}  // namespace mezzo::detail
