#pragma once

#include <string>

namespace mezzo_tests {

// Marks the running case as skipped, with the reason: `if (!has_amx) return skip("needs AMX");`.
void skip(const std::string& reason);

}  // namespace mezzo_tests
