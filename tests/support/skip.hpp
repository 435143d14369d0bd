#pragma once

#include <string>

namespace mezzo_tests {

// Says that the running case cannot run here, and why: `if (!has_amx) return skip("needs AMX");`.
void skip(const std::string& reason);

}  // namespace mezzo_tests
