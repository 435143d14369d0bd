#pragma once
#include <string_view>
#include <vector>

namespace mezzo::detail {

/// Value of an environment variable that is one of `valid`; "" if it is not set or empty. A ValueError that lists the
/// valid ones for another value.
std::string_view environment_choice(const char* variable, const std::vector<std::string_view>& valid);

}  // namespace mezzo::detail
