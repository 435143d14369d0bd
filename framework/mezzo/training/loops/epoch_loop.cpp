#include <algorithm>

#include <mezzo/compiler/overflow.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/training/loops/fit_loop.hpp>
#include <mezzo/training/loops/fit_ranks.hpp>
#include <mezzo/training/loops/signals.hpp>
#include <mezzo/training/module/action.hpp>

namespace mezzo::detail {

bool EpochLoop::complete() const {
  const TrainingState& state = fit_.state;
  return state.batch >= fit_.limits.epoch || (fit_.limits.whole_passes && state.batch > 0 && state.samples == 0);
}

void EpochLoop::run() {
  const Action action(fit_.settings.call.profiler, "run_training_epoch");
  TrainingState& state = fit_.state;
  begin();
  while (true) {
    agree(fit_);
    if (!validated_) validated_ = fit_.seconds();
    if (validation_is_due()) {
      validate_in_fit(fit_, numbers(true));
      agree(fit_);
      validated_ = fit_.seconds();
    }
    if (complete() || fit_.ends()) break;
    if (!step()) {
      const bool validates = fit_.limits.validation > 0 && fit_.settings.validation_freq.due(fit_.session.epoch);
      if (validates) validate_in_fit(fit_, numbers(true));
      break;
    }
    if (fit_.bar.due(state.batch)) fit_.bar.show(state.batch, numbers(true));
    if (fit_.settings.interruptible && fit_.runner.communicator() == nullptr) SignalScope::check();
  }
}

void EpochLoop::begin() {
  TrainingState& state = fit_.state;
  if (state.batch == 0) {
    state.epoch_means = {};
    state.validated.clear();
    state.validated_at = 0;
    fit_.runner.metrics().begin();
    state.resumed_metrics.clear();  // of an epoch that was resumed after its last step
    scaling_.emplace(fit_.runner);
    state.skipped_before = scaling_->before();
  } else {
    scaling_.emplace(fit_.runner, state.skipped_before);  // a resumed epoch
  }
  fit_.runner.update_count = {};
  fit_.logs = Logs();
  fit_.session.fire(Event::epoch_begin, fit_.logs, fit_.session.epoch);
  const int epochs = fit_.settings.epochs;
  fit_.bar.begin(epochs < 0 ? fmt::format("Epoch {}", fit_.session.epoch + 1)
                            : fmt::format("Epoch {}/{}", fit_.session.epoch + 1, epochs),
                 state.batch);
}

bool EpochLoop::step() {
  const Action action(fit_.settings.call.profiler, "run_training_batch");
  TrainingState& state = fit_.state;
  RunningSession& session = fit_.session;
  const HostBatch batch = next_batch();
  session.fire(Event::train_batch_begin, fit_.logs, state.batch, &batch);
  state.last_of_epoch = state.batch + 1 == fit_.limits.epoch || (fit_.limits.whole_passes && last_of_pass_);
  try {
    fit_.runner.run(Stage::fit, batch, state.batch);
  } catch (const NonFiniteError& error) {
    if (!session.absorbs_non_finite(state.batch, error.what())) throw;
    non_finite_ = true;
    session.stop();
    return false;
  }
  state.epoch_means.add(fit_.runner, batch.whole_size());
  advance(batch.whole_size() + batch.skipped);
  if (session.has_callbacks()) {
    state.epoch_means.write(fit_.logs);
    scaling_->write(fit_.logs, state.epoch_means);
  }
  state.epoch_means.write_last(outputs_);
  session.fire(Event::train_batch_end, fit_.logs, state.batch - 1, &batch, &outputs_);
  log_step();
  return true;
}

void EpochLoop::log_step() {
  if (fit_.settings.call.loggers.empty() || fit_.state.step % fit_.settings.log_every_n_steps != 0) return;
  Logs numbers = fit_.state.epoch_means.for_loggers_by_step(fit_.runner.batch_results());
  scaling_->write(numbers, fit_.state.epoch_means);
  if (numbers.empty()) return;
  numbers.set("epoch", fit_.session.epoch);
  fit_.session.log_metrics(numbers);
}

bool EpochLoop::validation_is_due() const {
  const TrainingState& state = fit_.state;
  const FitLimits& limits = fit_.limits;
  if (limits.validation == 0) return false;
  if (state.batch == 0 || state.validated_at == state.batch) return false;
  if (!fit_.settings.validation_freq.due(fit_.session.epoch)) return false;
  if (fit_.session.stopping() && fit_.may_stop()) return true;
  if (limits.check_every == all_batches) return complete();
  if (limits.check_every > 0) return state.batch % limits.check_every == 0;
  return fit_.seconds() - *validated_ >= limits.check_seconds;
}

Numbers EpochLoop::numbers(bool for_bar) const {
  const Means& means = fit_.state.epoch_means;
  Numbers out = for_bar ? means.for_bar() : means.for_history();
  for (const auto& entry : scaling_->numbers()) {
    if (!means.has(entry.first)) out.push_back(entry);  // names that the module logs take precedence
  }
  return out;
}

}  // namespace mezzo::detail
