#pragma once
#include <memory>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/core/held.hpp>
#include <mezzo/training/module/profiler.hpp>

namespace mezzo::profilers {

struct SimpleProfilerOptions {
  std::string dirpath{};   ///< folder of the file; "": the current one
  std::string filename{};  ///< file of the report, without its extension ".txt"; "": the report goes to the output
  bool extended = true;    ///< adds the columns of calls and percentages
};

/// Sums the times of actions, and writes a table at the end of each call, the slowest action first. The first report
/// replaces the file, later ones are added. Its memory does not grow with the number of steps.
class MEZZO_API SimpleProfiler : public Profiler {
 public:
  /// A ValueError for a dirpath without a filename.
  explicit SimpleProfiler(const SimpleProfilerOptions& options = {});

  void start(const std::string& action) override;
  /// A ValueError if no such action is running.
  void stop(const std::string& action) override;
  void describe() override;  ///< a FileError if the file can't be written

  /// The table of the actions since the last describe().
  std::string summary() const;

 private:
  struct State;
  detail::Held<State> state_;
};

}  // namespace mezzo::profilers
