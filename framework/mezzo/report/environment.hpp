#pragma once
#include <string>

namespace mezzo {

/// How this process computes, with what sets each: threads, their binding, denormals, huge pages, instruction set, as a
/// table for people. `mezzo env` shows it.
std::string environment();

}  // namespace mezzo
