#pragma once

#include <filesystem>

namespace mezzo_tests {

// The folder tests/ of the source tree, with the recorded reference values.
std::filesystem::path tests_dir();

}  // namespace mezzo_tests
