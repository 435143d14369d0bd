#include <mezzo/report/known_variables.hpp>

#include <unistd.h>

#include <algorithm>

#include <mezzo/core/edit_distance.hpp>

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

}  // namespace mezzo::detail
