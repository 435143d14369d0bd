#pragma once
#include <mezzo/graph/variable_state.hpp>

namespace mezzo {

/// True if a state (a weight that is not trained and has at least float32) is read as stored: under a policy that
/// computes in 16 bits, in which its updates would be lost.
bool stays_wide(const detail::VariableState& variable);

}  // namespace mezzo
