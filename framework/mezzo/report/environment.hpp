#pragma once
#include <string>

namespace mezzo {

/// Table of the process's settings: threads, their binding, denormals, huge pages, instruction set, and the variable or
/// function that sets each. `mezzo env` prints it.
std::string environment();

}  // namespace mezzo
