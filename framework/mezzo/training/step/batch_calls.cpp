#include <mezzo/training/step/batch_calls.hpp>

#include <new>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/step/loss_scaling.hpp>
#include <mezzo/training/step/means.hpp>

namespace mezzo::detail {

Logs run_batch(Module& module, Phase phase, const HostBatch& batch, const RunOptions& run) try {
  StepRunner runner(module, run);
  if (phase == Phase::train) {
    if (!training_state(module).configured) runner.rehearse(phase, batch);
    runner.configure(false);
  }
  const ScalingLog scaling(runner);
  runner.run(phase, batch);
  Means means;
  means.add(runner, batch.size);
  Logs logs(means.for_history());
  if (phase == Phase::train) scaling.write(logs, means);
  return logs;
} catch (const std::bad_alloc&) {
  fail<MemoryError>("[Trainer]", "the system has not enough memory for the batch");
}

}  // namespace mezzo::detail
