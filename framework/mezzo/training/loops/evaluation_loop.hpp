#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <mezzo/data/loaders.hpp>
#include <mezzo/training/loops/batch_bar.hpp>
#include <mezzo/training/loops/call_batches.hpp>
#include <mezzo/training/loops/running_session.hpp>
#include <mezzo/training/step/means.hpp>

namespace mezzo::detail {

/// Sets the index of the loader whose batches run, for its lifetime.
class LoaderScope {
 public:
  LoaderScope(RunningSession& session, StepRunner& runner, std::size_t index) : session_(session), runner_(runner) {
    set(index);
  }
  ~LoaderScope() { set(0); }
  LoaderScope(const LoaderScope&) = delete;
  LoaderScope& operator=(const LoaderScope&) = delete;

 private:
  void set(std::size_t index) {
    session_.dataloader = index;
    runner_.set_dataloader_idx(index);
  }

  RunningSession& session_;
  StepRunner& runner_;
};

/// The next batch. While it is read, other threads may predict.
inline std::optional<HostBatch> next_batch(BatchStream& stream, StepRunner& runner) {
  const auto lent = runner.lend();
  return stream.next();
}

/// Result of an evaluation.
struct Evaluated {
  Means means;
  std::int64_t batches = 0;  ///< of all loaders
};

/// Evaluates the first `steps` batches of each loader: fires the test events, shows the progress in the bar, and sends
/// numbers of single steps to the loggers under the names that `key` returns.
Evaluated run_evaluation(RunningSession& session, StepRunner& runner, const DataLoaders& loaders, Stage stage,
                         const std::vector<std::int64_t>& steps, BatchBar& bar, const Means::Key& key = {});

}  // namespace mezzo::detail
