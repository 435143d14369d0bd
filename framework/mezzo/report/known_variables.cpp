#include <mezzo/report/known_variables.hpp>

#include <unistd.h>

#include <algorithm>

#include <mezzo/core/edit_distance.hpp>
#include <mezzo/core/environment.hpp>
#include <mezzo/core/error.hpp>
#include <mezzo/core/tuning.hpp>

namespace mezzo::detail {
namespace {

/// Variables that the library and its Jupyter kernel read, without those of Trainer. A test compares them with the
/// sources.
const std::vector<std::string>& known_variables() {
  static const std::vector<std::string> all{
      "MEZZO_ADAPTIVE_THREADS",     "MEZZO_BIND_THREADS",     "MEZZO_DATA",
      "MEZZO_EAGER_CACHE",          "MEZZO_FLOAT32_WINOGRAD", "MEZZO_FLUSH_DENORMALS",
      "MEZZO_HUGE_PAGES",           "MEZZO_LIBDIR",           "MEZZO_MAX_ISA",
      "MEZZO_MPI_PLUGIN",           "MEZZO_PLAN_CACHE",       "MEZZO_PREFIX",
      "MEZZO_SENTENCEPIECE_PLUGIN", "MEZZO_VERBOSE",          "MEZZO_WARN_SLOW_POLICY",
      "MEZZO_YIELD_WHEN_BUSY"};
  return all;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> unknown_variables() {
  std::vector<std::pair<std::string, std::string>> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    // Trainer refuses unknown variables MEZZO_TRAINER_* itself.
    if (text.rfind("MEZZO_", 0) != 0 || text.rfind("MEZZO_TRAINER_", 0) == 0) continue;
    const std::string variable = text.substr(0, text.find('='));
    const std::vector<std::string>& known = known_variables();
    if (std::find(known.begin(), known.end(), variable) != known.end()) continue;
    out.emplace_back(variable, nearest_name(variable, known));
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> wrong_settings() {
  std::vector<std::string> out;
  const auto check = [&](const auto& read) {
    try {
      read();
    } catch (const Error& error) {
      out.emplace_back(error.what());
    }
  };
  check([] { thread_binding(); });
  check([] { flush_denormals(); });
  check([] { yield_when_busy(); });
  check([] { adaptive_threads(); });
  check([] { plan_cache_size(); });
  check([] { eager_cache_size(); });
  check([] { environment_choice("MEZZO_FLOAT32_WINOGRAD", {"0", "1"}); });
  check([] { environment_choice("MEZZO_VERBOSE", {"0", "dispatch"}); });
  check([] { environment_choice("MEZZO_WARN_SLOW_POLICY", {"0", "1"}); });
  return out;
}

}  // namespace mezzo::detail
