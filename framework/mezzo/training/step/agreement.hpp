#pragma once
#include <mezzo/training/step/process_group.hpp>
#include <mezzo/training/step/training_parts.hpp>

namespace mezzo::detail {

/// Decisions of a training between two steps, which the processes of a group make together.
struct Agreement {
  bool stops = false;  ///< true if the training is to end
  int signal = 0;      ///< number of a signal that has come; 0: none
  double seconds = 0;  ///< time of the training, for its limit
};

/// Decisions of all processes: stops if one does, the first signal, the time of the process that writes. `own` for a
/// process alone. A RankError if a process is at another step.
Agreement agree(const ProcessGroup& group, const Progress& progress, const Agreement& own);

}  // namespace mezzo::detail
