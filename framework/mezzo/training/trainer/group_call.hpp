#pragma once
#include <exception>

#include <mezzo/core/parallel.hpp>
#include <mezzo/training/module/interrupted.hpp>
#include <mezzo/training/step/process_group.hpp>
#include <mezzo/training/trainer/shared_options.hpp>
#include <mezzo/training/trainer/trainer_options.hpp>

namespace mezzo::detail {

/// Processes of a Trainer's strategy.
inline ProcessGroup group_of(const TrainerOptions& options) { return ProcessGroup(options.strategy.communicator()); }

/// Runs a Trainer's call(group). All processes of the group must have the same options. If it throws, the others end,
/// too.
template <class Call>
auto run_in_group(const TrainerOptions& options, const Call& call) {
  const ProcessGroup group = group_of(options);
  try {
    compare_options(group, options);
    const ThreadLimit threads(group.threads());
    return call(group);
  } catch (const Interrupted&) {  // of all processes
    throw;
  } catch (const std::exception& error) {
    group.end_others(error.what());
    throw;
  }
}

/// Throws a ValueError for an option or callback of fit that needs a process alone.
void require_supported(const TrainerOptions& options, const ProcessGroup& group);

}  // namespace mezzo::detail
