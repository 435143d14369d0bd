#pragma once
#include <cstdint>
#include <map>
#include <string>

namespace mezzo::detail {

/// Bytes by name in /proc/meminfo: "MemTotal", "MemAvailable" (what programs may allocate without swapping). Empty if
/// the system doesn't report them.
std::map<std::string, std::int64_t> memory_info();

}  // namespace mezzo::detail
