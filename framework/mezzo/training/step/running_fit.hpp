#pragma once
#include <atomic>
#include <memory>

#include <mezzo/core/execution_context.hpp>
#include <mezzo/training/step/fit_session.hpp>
#include <mezzo/training/step/rank_states.hpp>

namespace mezzo::detail {

class MetricScope;
class StepRunner;

/// Objects of the runs of a module that are in progress.
struct RunningFit {
  FitSession* session = nullptr;                    ///< of the running fit
  const MetricScope* set_aside = nullptr;           ///< keeps the epoch's metrics during a validation; null: none does
  std::atomic<const void*> between_steps{nullptr};  ///< key of the thread whose hooks run; null: none
  StepRunner* running = nullptr;                    ///< innermost one
  std::shared_ptr<RankStates> shared_states{};      ///< of the running fit of several ranks, and of one that failed
  bool last_of_epoch = false;                       ///< true if the next training step is the last of its epoch

  /// True on the thread that runs the module, while hooks of callbacks run.
  bool is_between_steps() const { return between_steps == &ExecutionContext::current(); }
};

}  // namespace mezzo::detail
