#pragma once
#include <string>

namespace mezzo {

/// "Intel(R) Xeon(R) Processor", as the CPU calls itself.
std::string cpu_name();

/// Whether the CPU has AMX tiles for bfloat16, and the operating system lets them be used.
bool has_amx();

/// Logical cores that this process may run on: its affinity mask.
int available_cores();

/// Cores' worth of time that this process's control groups (version 1 or 2) grant it, the least on the way up; 0: no
/// limit.
double cpu_quota();

namespace detail {
/// The same, of files below other folders than "/proc/self" and "/sys/fs/cgroup".
double cpu_quota(const std::string& process, const std::string& groups);
}  // namespace detail

}  // namespace mezzo
