#pragma once
#include <vector>

#include <mezzo/compiler/kernel.hpp>

namespace mezzo {

/// All implementations of the library, for each op in the order in which they are tried.
std::vector<Implementation> kernel_table();

}  // namespace mezzo
