#include <mezzo/training/profilers/names.hpp>

#include <mezzo/training/profilers/chrome_profiler.hpp>
#include <mezzo/training/profilers/explain_profiler.hpp>
#include <mezzo/training/profilers/simple_profiler.hpp>

namespace mezzo {

const NameTable<Profiler>& profiler_names() {
  static const NameTable<Profiler> table(
      "profiler", {{"simple", [](const std::string&) -> Any<Profiler> { return profilers::SimpleProfiler(); }},
                   {"chrome", [](const std::string&) -> Any<Profiler> { return profilers::ChromeProfiler(); }},
                   {"explain", [](const std::string&) -> Any<Profiler> { return profilers::ExplainProfiler(); }}});
  return table;
}

}  // namespace mezzo
