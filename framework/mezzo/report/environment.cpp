#include <mezzo/report/environment.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <mezzo/core/cpu.hpp>
#include <mezzo/core/environment_variables.hpp>
#include <mezzo/core/isa.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/text_table.hpp>
#include <mezzo/core/tuning.hpp>
#include <mezzo/core/unknown_variables.hpp>
#include <mezzo/distributed/rank_threads.hpp>
#include <mezzo/distributed/strategy.hpp>

namespace mezzo {
namespace {

namespace names = detail::environment_variables;

const char* on_off(bool on) { return on ? "on" : "off"; }

/// The system's mode of transparent huge pages: the word in brackets of "always [madvise] never".
std::string system_pages() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  for (std::string word; file >> word;) {
    if (word.front() == '[') return word.substr(1, word.size() - 2);
  }
  return "unknown";
}

/// Value of an environment variable and the function that overrides it; without a value, both names.
std::string by(const char* variable, const char* function) {
  const char* value = std::getenv(variable);
  if (value != nullptr && *value != '\0') return fmt::format("{}={}; {}", variable, value, function);
  return fmt::format("{} or {}", function, variable);
}

/// Rank of this process in a training started by mpirun or srun, and its number of threads.
std::string ranks_text() {
  if (!detail::started_by_mpi()) return "1";
  try {
    const std::shared_ptr<Communicator> ranks = Communicator::mpi();
    const int share = detail::threads_of_rank(*ranks);
    const bool chosen = std::getenv("OMP_NUM_THREADS") != nullptr;
    return fmt::format("rank {} of {}, {} of {} on this machine; threads in a training: {}", ranks->rank(),
                       ranks->size(), ranks->local_rank(), ranks->local_size(),
                       chosen ? thread_count() : std::min(thread_count(), share));
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

std::string environment() {
  detail::warn_of_unknown_variables();
  const double quota = cpu_quota();
  const std::string cores = fmt::format("{} cores to run on, quota {}", available_cores(),
                                        quota > 0 ? fmt::format("{:.3g}", quota) : std::string("none"));
  std::string text;
  for (const std::string& line : detail::table_lines(
           {{"setting", false}, {"value", false}, {"of this machine", false}, {"set by", false}},
           {{"threads", fmt::to_string(thread_count()), cores, by("OMP_NUM_THREADS", "set_thread_count()")},
            {"ranks", ranks_text(), "", "mpirun or srun"},
            {"thread binding", on_off(thread_binding()), "", by(names::bind_threads, "set_thread_binding()")},
            {"flush denormals", on_off(flush_denormals()), "", by(names::flush_denormals, "set_flush_denormals()")},
            {"huge pages", on_off(huge_pages()), "transparent huge pages: " + system_pages(),
             by(names::huge_pages, "set_huge_pages()")},
            {"yield when busy", on_off(yield_when_busy()), "", by(names::yield_when_busy, "set_yield_when_busy()")},
            {"adaptive threads", on_off(adaptive_threads()), "", by(names::adaptive_threads, "set_adaptive_threads()")},
            {"plan cache", fmt::to_string(plan_cache_size()), "", by(names::plan_cache, "set_plan_cache_size()")},
            {"eager cache", fmt::to_string(eager_cache_size()), "", by(names::eager_cache, "set_eager_cache_size()")},
            {"instruction set", isa_name(isa()), cpu_name(), by(names::max_isa, "ONEDNN_MAX_CPU_ISA")}})) {
    text += line + "\n";
  }
  return text;
}

}  // namespace mezzo
