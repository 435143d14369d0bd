#pragma once
#include <string>

#include <mezzo/graph/variable_state.hpp>

namespace mezzo::detail {

/// Throws a ValueError if a finite number of the weight would be infinite in that dtype. `where` starts the text.
void require_finite_as(DType dtype, const std::string& path, const VariableState& weight, const std::string& where);

}  // namespace mezzo::detail
