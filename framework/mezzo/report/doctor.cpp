#include <mezzo/report/doctor.hpp>

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include <mezzo/core/compiled_isas.hpp>
#include <mezzo/core/cpu.hpp>
#include <mezzo/core/environment_variables.hpp>
#include <mezzo/core/error.hpp>
#include <mezzo/core/isa.hpp>
#include <mezzo/core/memory_info.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/plugin.hpp>
#include <mezzo/core/text_table.hpp>
#include <mezzo/core/tuning.hpp>
#include <mezzo/core/unknown_variables.hpp>
#include <mezzo/data/text/tokenizer/sentencepiece_model.hpp>
#include <mezzo/datasets/search.hpp>
#include <mezzo/distributed/mpi_ranks.hpp>
#include <mezzo/report/wrong_settings.hpp>

namespace mezzo {
namespace {

Finding check_isa() {
  std::string text = fmt::format("{}, kernels for {}", cpu_name(), isa_name(isa()));
  for (const char* variable : {detail::environment_variables::max_isa, "ONEDNN_MAX_CPU_ISA"}) {
    const char* const value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    return {true, "instruction set", fmt::format("{}; limited by {}={}", text, variable, value),
            fmt::format("unset {}, unless the limit is wanted", variable)};
  }
  if (isa() == Isa::sse2) {
    return {true, "instruction set", text, "use a CPU with AVX2, or a build whose MEZZO_KERNELS has it: SSE2 is slow"};
  }
  if (isa() != Isa::avx512_bf16) text += "; bfloat16 is computed in float32";
  return {false, "instruction set", text, ""};
}

Finding check_threads() {
  const int threads = thread_count(), cores = available_cores();
  const double quota = cpu_quota();
  std::string text = fmt::format("{} threads on {} cores", threads, cores);
  if (quota > 0) text += fmt::format(", CPU quota of {:.3g} cores", quota);
  const char* const given = std::getenv("OMP_NUM_THREADS");
  if (given != nullptr && *given != '\0') text += fmt::format(", OMP_NUM_THREADS={}", given);
  if (threads > cores) {
    return {true, "threads", text, "set OMP_NUM_THREADS to at most the number of cores: threads that share one wait"};
  }
  if (quota > 0 && threads > quota + 1) {
    return {true, "threads", text, fmt::format("set OMP_NUM_THREADS={:.0f}, the CPU quota of the container", quota)};
  }
  if (threads == 1 && cores > 1) {
    return {true, "threads", text, "unset OMP_NUM_THREADS to use all cores, unless one thread is wanted"};
  }
  return {false, "threads", text, ""};
}

/// A number in a file; 0 if there is none, as for "max".
std::uint64_t number_in(const char* path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  return file >> number ? number : 0;
}

Finding check_memory() {
  const std::map<std::string, std::int64_t> memory = detail::memory_info();
  const auto found = memory.find("MemAvailable");
  const auto available = static_cast<std::uint64_t>(found == memory.end() ? 0 : found->second);
  std::uint64_t limit = number_in("/sys/fs/cgroup/memory.max");
  if (limit == 0) limit = number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes");
  if (limit > (std::uint64_t{1} << 60U)) limit = 0;  // version 1 has a large number for no limit
  std::string text = fmt::format("{} available", detail::bytes_text(available));
  if (limit > 0) text += fmt::format(", the control group may use {}", detail::bytes_text(limit));
  constexpr std::uint64_t least = std::uint64_t{1} << 30U;
  const bool little = (available > 0 && available < least) || (limit > 0 && limit < least);
  if (little) return {true, "memory", text, "end other programs or raise the limit: trainings may be killed"};
  return {false, "memory", text, ""};
}

Finding check_pages() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!huge_pages()) return {true, "huge pages", "off by MEZZO_HUGE_PAGES=0", "unset MEZZO_HUGE_PAGES"};
  if (text.find("[never]") == std::string::npos) return {false, "huge pages", "the system gives them", ""};
  return {true, "huge pages", "the system gives none: /sys/kernel/mm/transparent_hugepage/enabled is \"never\"",
          "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"};
}

/// Name of the allocator behind malloc: one that a program was linked with or that LD_PRELOAD names comes first.
std::string allocator_name() {
  constexpr std::pair<const char*, const char*> others[] = {
      {"mallctl", "jemalloc"}, {"tc_malloc_size", "tcmalloc"}, {"mi_version", "mimalloc"}};
  for (const auto& [symbol, name] : others) {
    if (dlsym(RTLD_DEFAULT, symbol) != nullptr) return name;
  }
  using Version = const char* (*)();
  const auto version = reinterpret_cast<Version>(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"));
  return version == nullptr ? "that of the C library" : fmt::format("glibc {}", version());
}

/// A setting of glibc that fills each array, to find errors, slows all work.
Finding check_allocator() {
  const std::string name = allocator_name();
  if (name.rfind("glibc", 0) != 0) return {false, "memory allocator", name, ""};
  const auto value_of = [](const char* variable) {
    const char* const value = std::getenv(variable);
    return std::string(value == nullptr ? "" : value);
  };
  const std::string filled = value_of("MALLOC_PERTURB_");
  if (!filled.empty() && filled != "0") {
    return {true, "memory allocator", fmt::format("{}, which fills each array by MALLOC_PERTURB_={}", name, filled),
            "unset MALLOC_PERTURB_, which is for finding errors"};
  }
  if (value_of("GLIBC_TUNABLES").find("glibc.malloc.perturb") != std::string::npos) {
    return {true, "memory allocator", name + ", which fills each array by glibc.malloc.perturb in GLIBC_TUNABLES",
            "remove glibc.malloc.perturb from GLIBC_TUNABLES: it is for finding errors"};
  }
  return {false, "memory allocator", name, ""};
}

Finding check_data() {
  namespace fs = std::filesystem;
  const char* const folder = std::getenv(detail::environment_variables::data);
  std::error_code ignored;
  if (folder != nullptr && *folder != '\0') {
    const bool readable = fs::is_directory(folder, ignored) && ::access(folder, R_OK | X_OK) == 0;
    if (readable) return {false, "data sets", fmt::format("MEZZO_DATA={}", folder), ""};
    return {true, "data sets", fmt::format("MEZZO_DATA={} is no folder that can be read", folder),
            "set MEZZO_DATA to the folder that holds mnist, fashion-mnist, ..."};
  }
  for (const std::string& place : datasets::detail::data_folders()) {
    if (fs::is_directory(place, ignored)) return {false, "data sets", fmt::format("in {}", place), ""};
  }
  return {false, "data sets", "none installed; MEZZO_DATA may name a folder", ""};
}

Finding check_plugin(const detail::Plugin& plugin) {
  const std::string subject = fmt::format("plug-in {}", plugin.name);
  try {
    detail::load_plugin(plugin, "");
    return {false, subject, "loads", ""};
  } catch (const Error& error) {
    const char* const path = std::getenv(plugin.variable);
    if (path == nullptr || *path == '\0') return {false, subject, "not installed", ""};
    return {true, subject, error.what(), fmt::format("unset {}, or set it to the plug-in's file", plugin.variable)};
  }
}

}  // namespace

std::vector<Finding> doctor() {
  const auto unknown = detail::take_unknown_variables();  // first, since the checks would warn of them
  std::vector<Finding> all;
  // A setting that can't be read is an error of its check.
  const auto add = [&](const char* subject, Finding (*check)()) {
    try {
      all.push_back(check());
    } catch (const Error& error) {
      all.push_back({true, subject, error.what(), "set the variable to one of these values, or unset it"});
    }
  };
  add("instruction set", check_isa);
  add("threads", check_threads);
  add("memory", check_memory);
  add("huge pages", check_pages);
  add("memory allocator", check_allocator);
  add("data sets", check_data);
  all.push_back(check_plugin(detail::plugin_of_sentencepiece));
  all.push_back(check_plugin(detail::plugin_of_mpi));
  for (const std::string& text : detail::wrong_settings()) {
    all.push_back({true, "environment", text, "set the variable to one of these values, or unset it"});
  }
  for (const auto& [variable, nearest] : unknown) {
    all.push_back({true, "environment", fmt::format("{} has no effect: mezzo has no such variable", variable),
                   nearest.empty() ? "unset it" : "unset it; nearest: " + nearest});
  }
  if (unknown.empty()) all.push_back({false, "environment", "no unknown variable MEZZO_*", ""});
  return all;
}

}  // namespace mezzo
