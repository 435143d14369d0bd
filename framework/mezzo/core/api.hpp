#pragma once

/// @file
/// MEZZO_API marks the classes and functions that the shared library exports; all other symbols are hidden. It is empty
/// for the static library, whose CMake target and mezzo.pc define MEZZO_STATIC.

#if defined(MEZZO_STATIC)
#define MEZZO_API
#else
#define MEZZO_API __attribute__((visibility("default")))
#endif
