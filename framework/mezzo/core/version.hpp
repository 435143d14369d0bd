#pragma once
#include <mezzo/core/api.hpp>

// Version of these headers. CMakeLists.txt reads the three numbers: they are written here and nowhere else.
#define MEZZO_VERSION_MAJOR 0
#define MEZZO_VERSION_MINOR 2
#define MEZZO_VERSION_PATCH 0

namespace mezzo {

/// Version of the library that the program runs with: "0.2.0".
MEZZO_API const char* version();

}  // namespace mezzo
