#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/core/held.hpp>
#include <mezzo/training/module/profiler.hpp>

namespace mezzo::profilers {

struct ChromeProfilerOptions {
  std::string dirpath{};                ///< folder of the file; "": the current one
  std::string filename = "trace";       ///< file, without its extension ".json"
  std::int64_t max_events = 1'000'000;  ///< events in the file, 2 for each action; later actions are left out
};

/// Writes the times of actions as JSON of Chrome's trace events, which <https://ui.perfetto.dev> and chrome://tracing
/// show. A second track has the kernels of the last training step of each epoch, a third the operations between ranks
/// that ran beside them, from the time when they are passed to the communication thread, or the end of the previous
/// one. Several calls are in one file, which the first one replaces. Events are written while the call runs: memory
/// does not grow, and the file of a process that was killed can be shown, too.
class MEZZO_API ChromeProfiler : public Profiler {
 public:
  /// A ValueError for an empty filename, or max_events below 2.
  explicit ChromeProfiler(const ChromeProfilerOptions& options = {});

  /// This and the others: a FileError if the file can't be written.
  void start(const std::string& action) override;
  /// A ValueError if no such action is running.
  void stop(const std::string& action) override;
  void on_epoch_end(Module& module, int epoch) override;
  void describe() override;  ///< warns if actions were left out

 private:
  struct State;
  detail::Held<State> state_;
};

}  // namespace mezzo::profilers
