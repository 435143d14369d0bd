#include <mezzo/core/cpu.hpp>

#include <cpuid.h>
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#include <mezzo/core/isa.hpp>

namespace mezzo {
namespace {

/// Minimum of two limits; 0 means no limit.
double lesser(double a, double b) { return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b); }

/// Limit of one control group.
double limit_of(const std::string& folder) {
  std::string quota;
  double period = 0;
  if (std::ifstream(folder + "/cpu.max") >> quota >> period) {
    return quota == "max" || period <= 0 ? 0 : std::stod(quota) / period;
  }
  double microseconds = 0;
  const bool found = std::ifstream(folder + "/cpu.cfs_quota_us") >> microseconds &&
                     std::ifstream(folder + "/cpu.cfs_period_us") >> period;
  return found && microseconds > 0 && period > 0 ? microseconds / period : 0;
}

/// Smallest limit of a control group and its parents.
double limit_up_from(const std::string& root, std::string path) {
  double limit = 0;
  while (true) {
    limit = lesser(limit, limit_of(root + path));
    if (path.empty() || path == "/") return limit;
    path.erase(path.rfind('/'));
  }
}

}  // namespace

std::string cpu_name() {
  unsigned words[12] = {};
  unsigned* w = words;
  for (unsigned leaf = 0x80000002U; leaf <= 0x80000004U; ++leaf, w += 4) {
    if (__get_cpuid(leaf, w, w + 1, w + 2, w + 3) == 0) return "unknown";
  }
  char text[sizeof(words) + 1] = {};
  std::memcpy(text, words, sizeof(words));
  const std::string name(text);
  const std::size_t begin = name.find_first_not_of(' ');
  return begin == std::string::npos ? "unknown" : name.substr(begin, name.find_last_not_of(' ') + 1 - begin);
}

bool has_slow_bfloat16() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0, &a, &b, &c, &d) == 0 || std::memcmp(&b, "Genu", 4) != 0) return false;
  constexpr unsigned avx512_fp16 = 1U << 23;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & avx512_fp16) != 0;
}

bool has_int8_products() {
  __builtin_cpu_init();
  return isa() >= Isa::avx512 && __builtin_cpu_supports("avx512vnni");
}

bool has_amx() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned osxsave = 1U << 27, amx_bf16 = 1U << 22, amx_tile = 1U << 24, tile_states = 3U << 17;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & osxsave) == 0) return false;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & amx_bf16) == 0 || (d & amx_tile) == 0) return false;
  unsigned low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & tile_states) == tile_states;
}

int available_cores() {
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof(mask), &mask) == 0) return CPU_COUNT(&mask);
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

double cpu_quota() { return detail::cpu_quota("/proc/self", "/sys/fs/cgroup"); }

double detail::cpu_quota(const std::string& process, const std::string& groups) {
  std::ifstream file(process + "/cgroup");
  double limit = 0;
  for (std::string line; std::getline(file, line);) {  // hierarchy:controllers:path; version 2 has no controllers
    std::istringstream parts(line);
    std::string hierarchy, controllers, path;
    std::getline(std::getline(std::getline(parts, hierarchy, ':'), controllers, ':'), path);
    if (controllers.empty()) {
      limit = lesser(limit, limit_up_from(groups, path));
    } else if (("," + controllers + ",").find(",cpu,") != std::string::npos) {
      limit = lesser(limit, lesser(limit_up_from(groups + "/cpu", path), limit_up_from(groups + "/cpu,cpuacct", path)));
    }
  }
  return limit;
}

}  // namespace mezzo
