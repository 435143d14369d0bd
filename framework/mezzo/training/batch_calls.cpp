#include <mezzo/training/batch_calls.hpp>

#include <new>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/loops/means.hpp>

namespace mezzo::detail {

Logs run_batch(Module& module, Phase phase, const HostBatch& batch, const RunOptions& run) try {
  StepRunner runner(module, run);
  if (phase == Phase::train) {
    if (!training_state(module).configured) runner.rehearse(phase, batch);
    runner.configure(false);
  }
  runner.run(phase, batch);
  Means means;
  means.add(runner, batch.size);
  return Logs(means.for_history());
} catch (const std::bad_alloc&) {
  fail<MemoryError>("[Trainer]", "the system has not enough memory for the batch");
}

}  // namespace mezzo::detail
