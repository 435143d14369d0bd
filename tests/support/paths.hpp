#pragma once

#include <filesystem>

namespace mezzo_tests {

// The folder tests/ of the source tree, where recorded reference values are read from.
std::filesystem::path tests_dir();

}  // namespace mezzo_tests
