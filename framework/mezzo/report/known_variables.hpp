#pragma once
#include <string>
#include <utility>
#include <vector>

namespace mezzo::detail {

/// Variables `MEZZO_*` of the environment that mezzo doesn't read, each with the nearest one that it reads.
std::vector<std::pair<std::string, std::string>> unknown_variables();

/// Errors of settings of threads, memory and kernels whose variable has a value that mezzo refuses.
std::vector<std::string> wrong_settings();

}  // namespace mezzo::detail
