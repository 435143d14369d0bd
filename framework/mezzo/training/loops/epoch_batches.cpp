// The batches of an epoch, in the order of its passes over the data.
#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/loops/fit_loop.hpp>
#include <mezzo/training/module/action.hpp>

namespace mezzo::detail {
namespace {

void begin_pass(Progress& progress) {
  progress.position = progress.samples = 0;
  ++progress.pass;
}

}  // namespace

HostBatch EpochLoop::next_batch() {
  const Action action(fit_.settings.call.profiler, "[_TrainingEpochLoop].train_dataloader_next");
  const auto lent = fit_.runner.lend();
  Progress& progress = fit_.progress;
  const FitLimits& limits = fit_.limits;
  const auto open = [&] {
    stream_.emplace(fit_.train.stream(
        {.epoch = progress.pass, .samples = progress.samples, .batches = progress.position}, batches_ahead()));
    return stream_->next();
  };
  std::optional<HostBatch> batch = stream_ ? stream_->next() : open();
  const bool sized = fit_.train.sized();
  if (!batch && sized) batch = open();  // skipped steps and windows take more batches than were expected
  if (!batch && !sized && !limits.whole_passes && progress.samples > 0) {
    begin_pass(progress);  // under steps_per_epoch the epoch continues in the next pass
    batch = open();
  }
  if (!batch) fail<ValueError>("[Trainer]", "fit: the loader must give a batch; got none in pass {}", progress.pass);
  last_of_pass_ =
      sized ? progress.position + 1 >= fit_.train.size() : limits.whole_passes && stream_->peek() == nullptr;
  return std::move(*batch);
}

std::int64_t EpochLoop::batches_ahead() const {
  const Progress& progress = fit_.progress;
  const FitLimits& limits = fit_.limits;
  const FitSettings& settings = fit_.settings;
  const std::int64_t of_epoch = limits.epoch == all_batches ? all_batches : limits.epoch - progress.batch;
  if (!fit_.train.sized()) return limits.whole_passes ? of_epoch : all_batches;
  if (limits.whole_passes && limits.epoch < fit_.train.size()) return of_epoch;
  const auto times = [](std::int64_t a, std::int64_t b) { return a > all_batches / b ? all_batches : a * b; };
  std::int64_t rest = all_batches;
  if (settings.epochs >= 0)
    rest = std::min(rest, times(settings.epochs - progress.fit_epoch - 1, limits.epoch) + of_epoch);
  if (settings.max_steps >= 0) {
    rest = std::min(rest, times(settings.max_steps - progress.updates, fit_.session.accumulate_grad_batches()));
  }
  return std::max<std::int64_t>(rest, 1);
}

void EpochLoop::advance(const HostBatch& batch) {
  Progress& progress = fit_.progress;
  const bool ends_epoch = ++progress.batch == fit_.limits.epoch;
  ++progress.position;
  progress.samples += batch.whole_size() + batch.skipped;
  if (!last_of_pass_ && !(fit_.limits.whole_passes && ends_epoch)) return;
  begin_pass(progress);
  stream_.reset();
}

void EpochLoop::skip_rest() {
  if (complete()) return;
  Progress& progress = fit_.progress;
  if (!fit_.settings.steps_per_epoch && progress.samples > 0) {  // the next epoch is a pass of its own
    begin_pass(progress);
    stream_.reset();
  }
  if (!fit_.limits.whole_passes) progress.batch = fit_.limits.epoch;
}

}  // namespace mezzo::detail
