#pragma once
#include <string>

#include <mezzo/core/api.hpp>

namespace mezzo {

/// Table of the process's settings: threads, their binding, denormals, huge pages, instruction set, and the variable or
/// function that sets each. `mezzo env` prints it.
MEZZO_API std::string environment();

}  // namespace mezzo
