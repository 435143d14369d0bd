#pragma once
#include <cstdlib>
#include <string>

namespace mezzo {

/// Whether that variable of the environment is 0.
inline bool turned_off(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && std::string(value) == "0";
}

}  // namespace mezzo
