#include <algorithm>

#include <mezzo/compiler/overflow.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/training/loops/fit_group.hpp>
#include <mezzo/training/loops/fit_loop.hpp>
#include <mezzo/training/loops/signals.hpp>
#include <mezzo/training/module/action.hpp>

namespace mezzo::detail {

bool EpochLoop::complete() const {
  const Progress& progress = fit_.progress;
  return progress.batch >= fit_.limits.epoch ||
         (fit_.limits.whole_passes && progress.batch > 0 && progress.samples == 0);
}

void EpochLoop::run() {
  const Action action(fit_.settings.call.profiler, "run_training_epoch");
  const Progress& progress = fit_.progress;
  begin();
  while (true) {
    agree_in_group(fit_);
    if (!validated_) validated_ = fit_.seconds();
    if (validation_is_due()) {
      validate_in_fit(fit_, numbers(true));
      agree_in_group(fit_);
      validated_ = fit_.seconds();
    }
    if (complete() && left_out_ && fit_.record.epoch_means.entries().empty()) {
      fail<ValueError>("[Trainer]",
                       "training_step must return a loss for a batch of an epoch; got none for all of them");
    }
    if (complete() || fit_.ends()) break;
    if (!step()) {
      const bool validates = fit_.limits.validation > 0 && fit_.settings.validation_freq.due(fit_.session.epoch);
      if (validates) validate_in_fit(fit_, numbers(true));
      break;
    }
    if (fit_.bar.due(progress.batch)) fit_.bar.show(progress.batch, numbers(true));
    if (fit_.runner.group().shared()) continue;  // agree_in_group() checks for all processes
    if (fit_.settings.interruptible) SignalScope::check();
    check_interrupt_request();
  }
}

void EpochLoop::begin() {
  const Progress& progress = fit_.progress;
  EpochRecord& record = fit_.record;
  if (progress.batch == 0) {
    record.epoch_means = {};
    record.validated.clear();
    record.validated_at = 0;
    fit_.runner.metrics().begin();
    record.resumed_metrics.clear();  // of an epoch that was resumed after its last step
    scaling_.emplace(fit_.runner);
    record.skipped_before = scaling_->before();
  } else {
    scaling_.emplace(fit_.runner, record.skipped_before);  // a resumed epoch
  }
  left_out_ = false;
  fit_.runner.update_count = {};
  fit_.logs = Logs();
  fit_.session.fire(Event::epoch_begin, fit_.logs, fit_.session.epoch);
  const int epochs = fit_.settings.epochs;
  fit_.bar.begin(epochs < 0 ? fmt::format("Epoch {}", fit_.session.epoch + 1)
                            : fmt::format("Epoch {}/{}", fit_.session.epoch + 1, epochs),
                 progress.batch);
}

bool EpochLoop::step() {
  const Action action(fit_.settings.call.profiler, "run_training_batch");
  const Progress& progress = fit_.progress;
  EpochRecord& record = fit_.record;
  RunningSession& session = fit_.session;
  const HostBatch batch = next_batch();
  session.fire(Event::train_batch_begin, fit_.logs, progress.batch, &batch);
  fit_.running.last_of_epoch = progress.batch + 1 == fit_.limits.epoch || (fit_.limits.whole_passes && last_of_pass_);
  if (const Skip skip = session.take_skip(); skip != Skip::none) {
    pass_over(batch, skip);
    return true;
  }
  try {
    fit_.runner.run(Stage::fit, batch, progress.batch);
  } catch (const NonFiniteError& error) {
    if (!session.absorbs_non_finite(progress.batch, error.what())) throw;
    non_finite_ = true;
    session.stop();
    return false;
  }
  record.epoch_means.add(fit_.runner, batch.whole_size());
  advance(batch);
  if (session.has_callbacks()) {
    record.epoch_means.write(fit_.logs);
    scaling_->write(fit_.logs, record.epoch_means);
  }
  if (fit_.runner.logged().empty()) {
    outputs_ = Logs();  // the step has left the batch out
    left_out_ = true;
  } else {
    record.epoch_means.write_last(outputs_);
  }
  session.fire(Event::train_batch_end, fit_.logs, progress.batch - 1, &batch, &outputs_);
  log_step();
  return true;
}

void EpochLoop::pass_over(const HostBatch& batch, Skip skip) {
  if (skip == Skip::epoch) fit_.running.last_of_epoch = true;
  ++fit_.progress.step;
  const std::int64_t index = fit_.progress.batch;
  advance(batch);
  if (skip == Skip::epoch) skip_rest();
  const Logs none;
  fit_.session.fire(Event::train_batch_end, fit_.logs, index, &batch, &none);
}

void EpochLoop::log_step() {
  if (fit_.settings.call.loggers.empty() || fit_.progress.step % fit_.settings.log_every_n_steps != 0) return;
  Logs numbers = fit_.record.epoch_means.for_loggers_by_step(fit_.runner.batch_results());
  scaling_->write(numbers, fit_.record.epoch_means);
  if (numbers.empty()) return;
  numbers.set("epoch", fit_.session.epoch);
  fit_.session.log_metrics(numbers);
}

bool EpochLoop::validation_is_due() const {
  const Progress& progress = fit_.progress;
  const EpochRecord& record = fit_.record;
  const FitLimits& limits = fit_.limits;
  if (limits.validation == 0) return false;
  if (progress.batch == 0 || record.validated_at == progress.batch) return false;
  if (!fit_.settings.validation_freq.due(fit_.session.epoch)) return false;
  if (fit_.session.stopping() && fit_.may_stop()) return true;
  if (limits.check_every == limits.epoch && !fit_.settings.checks_across_epochs) return complete();
  if (limits.check_every > 0) {
    return (fit_.settings.checks_across_epochs ? progress.step : progress.batch) % limits.check_every == 0;
  }
  return fit_.seconds() - *validated_ >= limits.check_seconds;
}

Numbers EpochLoop::numbers(bool for_bar) const {
  const Means& means = fit_.record.epoch_means;
  Numbers out = for_bar ? means.for_bar() : means.for_history();
  for (const auto& entry : scaling_->numbers()) {
    if (!means.has(entry.first)) out.push_back(entry);  // names that the module logs take precedence
  }
  return out;
}

}  // namespace mezzo::detail
