#include <mezzo/training/step/batch_calls.hpp>

#include <new>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/step/means.hpp>
#include <mezzo/training/step/scaling_log.hpp>

namespace mezzo::detail {

Logs run_batch(Module& module, Stage stage, const HostBatch& batch, const RunOptions& run) try {
  StepRunner runner(module, run, stage == Stage::fit ? StepRunner::Use::alone : StepRunner::Use::between_steps);
  if (stage == Stage::fit) {
    if (!training_state(module).configured) runner.rehearse(stage, batch);
    runner.configure(false);
  }
  const ScalingLog scaling(runner);
  runner.run(stage, batch);
  Means means;
  means.add(runner, batch.size);
  Logs logs(means.for_history());
  if (stage == Stage::fit) scaling.write(logs, means);
  return logs;
} catch (const std::bad_alloc&) {
  fail<MemoryError>("[Trainer]", "the system has not enough memory for the batch");
}

}  // namespace mezzo::detail
