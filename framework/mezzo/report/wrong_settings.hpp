#pragma once
#include <string>
#include <vector>

namespace mezzo::detail {

/// Errors of settings of threads, memory and kernels whose variable has a value that mezzo refuses.
std::vector<std::string> wrong_settings();

}  // namespace mezzo::detail
