#include <mezzo/training/module/profiler.hpp>

#include <mezzo/core/name_table.hpp>
#include <mezzo/training/profilers/chrome_profiler.hpp>
#include <mezzo/training/profilers/explain_profiler.hpp>
#include <mezzo/training/profilers/simple_profiler.hpp>

namespace mezzo {

Any<Profiler> Profiler::from_name(const std::string& name) {
  static const NameTable<Profiler> table(
      "profiler", {{"simple", [](const std::string&) -> Any<Profiler> { return profilers::SimpleProfiler(); }},
                   {"chrome", [](const std::string&) -> Any<Profiler> { return profilers::ChromeProfiler(); }},
                   {"explain", [](const std::string&) -> Any<Profiler> { return profilers::ExplainProfiler(); }}});
  return table.at(name);
}

}  // namespace mezzo
