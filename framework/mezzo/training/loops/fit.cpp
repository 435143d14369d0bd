// The call of fit: what its loops share, signals and errors.
#include <mezzo/training/loops/fit_loop.hpp>

#include <functional>
#include <new>

#include <fmt/format.h>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/training/checkpoints/rank_results.hpp>
#include <mezzo/training/loops/auto_precision.hpp>
#include <mezzo/training/loops/fit_ranks.hpp>
#include <mezzo/training/loops/signals.hpp>
#include <mezzo/training/loops/texts.hpp>
#include <mezzo/training/module/action.hpp>
#include <mezzo/training/module/interrupted.hpp>
#include <mezzo/training/step/slow_policy.hpp>

namespace mezzo::detail {

bool Fit::may_stop() const {
  return state.fit_epoch >= options.min_epochs && (options.min_steps < 0 || state.updates >= options.min_steps);
}

bool Fit::ends() const {
  if (options.max_steps >= 0 && state.updates >= options.max_steps) return true;
  if (options.max_seconds > 0) {
    session.count_time();
    if (seconds() >= options.max_seconds) return true;
  }
  return session.stopping() && may_stop();
}

void Fit::renew_data() {
  train = batch_size ? source.with_batch_size(*batch_size) : source;
  limits = FitLimits(train, validation, options);
  session.limits.steps = known_batches(limits.epoch);
  bar.set_total(session.limits.steps);
  state.data = train.fingerprint();
}

namespace {

/// Saves the training before the process ends, and tells where.
void save_interrupted(const Fit& fit, const Interrupted& error) {
  const std::string& path = fit.options.interrupt_checkpoint;
  try {
    end_ranks(fit.state);
    if (path.empty()) return;
    const BetweenSteps between(fit.state);
    make_folder_of("[Trainer]", path);
    save_checkpoint(fit.runner.module(), path, {});
    write_line(fmt::format("{}: resume from \"{}\"", error.what(), path));
  } catch (const std::exception& second) {
    warn(fmt::format("{}; the checkpoint could not be saved: {}", error.what(), second.what()));
  }
}

}  // namespace

History fit(Module& module, const DataLoader& train, const DataLoaders& validation, const RunOptions& run,
            const LoopOptions& options) try {
  std::optional<FitLimits> measured;
  const auto measure = [&] {
    require_batches(train, "fit");
    measured.emplace(train, validation, options);
  };
  if (!options.call.load) measure();
  const Action action(options.call.profiler, "[Trainer]fit");
  const CallScope scope(module, Stage::fit, options.call, measure);
  FitLimits& limits = *measured;
  RunOptions chosen = run;
  if (options.chooses_policy) {
    const auto before = options.checkpoint == nullptr ? std::optional<Policy>() : options.checkpoint->chosen();
    chosen.policy = before ? *before : choose_policy(module, train, run);
  }
  warn_if_slow(module, train, chosen, limits.planned_steps(options));
  StepRunner runner(module, chosen);
  RunningSession session(scope, runner);
  session.limits.epochs = options.epochs;
  session.limits.steps = known_batches(limits.epoch);
  session.accumulates = options.anew;
  session.log_every_n_steps = options.log_every_n_steps;
  if (options.checkpoint != nullptr) session.resumed_from = options.checkpoint->path();
  session.validating = limits.validation != 0;
  // Keras' fit acts after epochs in any case.
  session.each_epoch = !options.anew || limits.validation == 0 ||
                       (options.val_check_interval.is_whole_epoch() && options.validation_freq.due(0));
  BatchBar bar(options.call.verbose, scope.callbacks(), session.limits.steps);
  Fit fit{.runner = runner,
          .state = training_state(module),
          .session = session,
          .source = train,
          .train = train,
          .validation = validation,
          .options = options,
          .limits = limits,
          .bar = bar};
  session.train = &fit.train;
  session.resize_batches = [&](std::int64_t size) {
    fit.batch_size = size;
    fit.renew_data();
  };
  std::optional<SignalScope> signals;
  if (options.interruptible) signals.emplace();
  try {
    FitLoop loop(fit);
    // After the checkpoint was accepted: a refused one leaves the policy of the training before.
    if (options.chooses_policy) fit.state.chosen = chosen.policy;
    History history = loop.run();
    end_ranks(fit.state);
    share_results(runner.communicator(), scope.handles());
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
