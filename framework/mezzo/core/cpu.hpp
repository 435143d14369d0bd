#pragma once
#include <string>

namespace mezzo {

/// Name of the CPU from its CPUID: "Intel(R) Xeon(R) Processor"; "unknown" if it has none.
std::string cpu_name();

/// True if the CPU has AMX tiles for bfloat16 and the operating system enables them.
bool has_amx();

/// True if VDPBF16PS has a quarter of the rate of a float32 FMA, so that float32 multiplies faster without AMX: on
/// Intel CPUs since Sapphire Rapids, which have AVX512_FP16.
bool has_slow_bfloat16();

/// True if the CPU multiplies 8-bit integers with sums of 32 bits at once (AVX512_VNNI) and isa() allows it.
bool has_int8_products();

/// Number of logical cores in the affinity mask of this process.
int available_cores();

/// CPU quota of this process in cores: the smallest quota of its control groups (version 1 or 2) and their parents. 0:
/// no limit.
double cpu_quota();

namespace detail {
/// cpu_quota() with other folders in place of "/proc/self" and "/sys/fs/cgroup".
double cpu_quota(const std::string& process, const std::string& groups);
}  // namespace detail

}  // namespace mezzo
