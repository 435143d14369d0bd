#pragma once
#include <string>
#include <utility>
#include <vector>

namespace mezzo::detail {

/// Variables `MEZZO_*` of the environment that mezzo doesn't read, each with the nearest one that it reads, or "" if
/// none is like it. Later calls of warn_of_unknown_variables() do nothing: the caller names them.
std::vector<std::pair<std::string, std::string>> take_unknown_variables();

/// Warns of these variables once in a process. Called at the start of work that a variable may change.
void warn_of_unknown_variables();

}  // namespace mezzo::detail
