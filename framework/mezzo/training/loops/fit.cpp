// The call of fit: what its loops share, signals and errors.
#include <mezzo/training/loops/fit_loop.hpp>

#include <functional>
#include <new>

#include <fmt/format.h>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/training/checkpoints/checkpoint.hpp>
#include <mezzo/training/checkpoints/shared_results.hpp>
#include <mezzo/training/loops/auto_precision.hpp>
#include <mezzo/training/loops/signals.hpp>
#include <mezzo/training/loops/texts.hpp>
#include <mezzo/training/module/action.hpp>
#include <mezzo/training/module/interrupt_request.hpp>
#include <mezzo/training/module/interrupted.hpp>
#include <mezzo/training/step/group_start.hpp>
#include <mezzo/training/step/slow_policy.hpp>

namespace mezzo::detail {

bool Fit::may_stop() const {
  return progress.fit_epoch >= settings.min_epochs &&
         (settings.min_steps < 0 || progress.updates >= settings.min_steps);
}

bool Fit::ends() const {
  if (settings.max_steps >= 0 && progress.updates >= settings.max_steps) return true;
  if (settings.max_seconds > 0) {
    session.count_time();
    if (seconds() >= settings.max_seconds) return true;
  }
  return session.stopping() && may_stop();
}

void Fit::renew_data() {
  train = batch_size ? source.with_batch_size(*batch_size) : source;
  limits = FitLimits(train, validation, settings);
  session.batch_count = known_batches(limits.epoch);
  bar.set_total(session.batch_count);
  record.data = train.fingerprint();
}

namespace {

/// Saves the training before the process ends, and prints the path.
void save_interrupted(const Fit& fit, const Interrupted& error) {
  const std::string& path = fit.settings.interrupt_checkpoint;
  try {
    end_fit(fit.runner);
    if (path.empty()) return;
    const BetweenSteps between(fit.running);
    make_folder_of("[Trainer]", path);
    save_checkpoint(fit.runner.module(), path, {});
    write_line(fmt::format("{}: resume from \"{}\"", error.what(), path));
  } catch (const std::exception& second) {
    warn(fmt::format("{}; the checkpoint could not be saved: {}", error.what(), second.what()));
  }
}

/// Result of precision "auto": that of the checkpoint, else of a measurement.
Policy chosen_policy(Module& module, const DataLoader& train, const FitSettings& settings) {
  const auto before = settings.checkpoint == nullptr ? std::optional<Policy>() : settings.checkpoint->chosen();
  return before ? *before : choose_policy(module, train, settings.run);
}

}  // namespace

History fit(Module& module, const DataLoader& train, const DataLoaders& validation, const FitSettings& settings) try {
  std::optional<FitLimits> measured;
  const auto count_batches = [&] {
    require_batches(train, "fit");
    measured.emplace(train, validation, settings);
  };
  if (!settings.call.make_loaders) count_batches();  // else CallScope calls it
  const Action action(settings.call.profiler, "[Trainer]fit");
  const CallScope scope(module, Stage::fit, settings.call, count_batches);
  FitLimits& limits = *measured;
  RunOptions run = settings.run;
  if (settings.chooses_policy) run.policy = chosen_policy(module, train, settings);
  warn_if_slow(module, train, run, limits.planned_steps(settings));
  StepRunner runner(module, run);
  RunningSession session(scope, runner);
  session.epoch_count = settings.epochs;
  session.batch_count = known_batches(limits.epoch);
  session.accumulates = settings.reset;
  session.log_every_n_steps = settings.log_every_n_steps;
  if (settings.checkpoint != nullptr) session.resumed_from = settings.checkpoint->path();
  session.validating = limits.validation != 0;
  // Keras' fit acts after epochs in any case.
  session.each_epoch = !settings.reset || limits.validation == 0 ||
                       (settings.val_check_interval.is_whole_epoch() && settings.validation_freq.due(0) &&
                        !settings.checks_across_epochs);
  BatchBar bar(settings.call.verbose, scope.callbacks(), session.batch_count);
  Fit fit{.runner = runner,
          .session = session,
          .source = train,
          .train = train,
          .validation = validation,
          .settings = settings,
          .limits = limits,
          .bar = bar};
  session.train = &fit.train;
  session.resize_batches = [&](std::int64_t size) {
    fit.batch_size = size;
    fit.renew_data();
  };
  forget_interrupt_requests();
  std::optional<SignalScope> signals;
  if (settings.interruptible) signals.emplace();
  try {
    FitLoop loop(fit);
    // After the checkpoint was accepted: a refused one leaves the policy of the training before.
    if (settings.chooses_policy) runner.state().chosen = run.policy;
    History history = loop.run();
    end_fit(fit.runner);
    share_results(runner.group(), scope.handles());
    session.finalize("success");
    return history;
  } catch (const Interrupted& error) {
    save_interrupted(fit, error);
    session.fail_with(error, fit.logs, "interrupted");
    throw;
  } catch (const std::exception& error) {
    session.fail_with(error, fit.logs, "failed");
    throw;
  }
} catch (const std::bad_alloc&) {
  fail_without_memory("fit");
}

}  // namespace mezzo::detail
