#include <mezzo/training/loops/fit_loop.hpp>

#include <fmt/format.h>

#include <functional>
#include <limits>
#include <new>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/core/scoped_value.hpp>
#include <mezzo/training/auto_precision.hpp>
#include <mezzo/training/callbacks/texts.hpp>
#include <mezzo/training/interrupted.hpp>
#include <mezzo/training/loops/signals.hpp>
#include <mezzo/training/profilers/action.hpp>
#include <mezzo/training/slow_policy.hpp>

namespace mezzo::detail {
namespace {

/// The batch at a position. The loader keeps it for the stream that begins there.
HostBatch batch_at(const DataLoader& loader, const LoaderPosition& position = {}) {
  BatchStream stream = loader.stream(position, 1);
  const HostBatch* const batch = stream.peek();
  // The end of a source without a size shows when no batch comes.
  if (batch == nullptr && position.samples > 0) return batch_at(loader, {.epoch = position.epoch + 1, .samples = 0});
  if (batch == nullptr) fail<ValueError>("[Trainer]", "fit: the loader must give a batch; got none");
  return *batch;
}

TrainingData data_of(const Fit& fit) {
  return {.loader = fit.train,
          .epoch = fit.limits.epoch,
          .whole_passes = fit.limits.whole_passes,
          .by_samples = fit.options.by_samples};
}

/// Position of the batch for a rehearsal. Data that don't fit the checkpoint are an error later: a callback, whose
/// state is in the checkpoint, may replace them.
LoaderPosition expected_position(const Checkpoint& checkpoint, const Fit& fit) {
  try {
    return checkpoint.position(data_of(fit));
  } catch (const Error&) {
    return {};
  }
}

/// Skips the rest of an unfinished epoch.
void begin_whole_epoch(Progress& progress) {
  if (progress.batch > 0) ++progress.epoch;
  if (progress.position > 0) ++progress.pass;
  progress.batch = progress.position = progress.samples = 0;
}

}  // namespace

bool Fit::may_stop() const {
  return state.fit_epoch >= options.min_epochs && (options.min_steps < 0 || state.updates >= options.min_steps);
}

bool Fit::ends() const {
  if (options.max_steps >= 0 && state.updates >= options.max_steps) return true;
  if (options.max_seconds > 0) {
    session.count_time();
    if (state.seconds >= options.max_seconds) return true;
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

FitLoop::FitLoop(Fit& fit) : fit_(fit), epoch_(fit) {
  StepRunner& runner = fit.runner;
  TrainingState& state = fit.state;
  const Checkpoint* const checkpoint = fit.options.checkpoint;
  state.param_groups.clear();
  if (fit.options.anew || !state.configured) {
    const LoaderPosition start = checkpoint == nullptr ? LoaderPosition() : expected_position(*checkpoint, fit);
    tell_of_emulation(state, runner.rehearse(Phase::train, batch_at(fit.train, start)));
  }
  for (std::size_t i = 0; i < fit.limits.validations.size(); ++i) {
    if (fit.limits.validations[i] == 0) continue;
    const LoaderScope scope(fit.session, runner, i);
    runner.rehearse(Phase::validate, batch_at(fit.validation[i]));
  }
  state.data = fit.train.fingerprint();
  state.history = {};
  state.epoch_means = {};
  state.resumed_metrics.clear();
  if (checkpoint != nullptr) {
    checkpoint->prepare_callbacks(fit.session);
    resume(*checkpoint);
  } else {
    runner.configure(fit.options.anew);
    begin_whole_epoch(state);
    state.fit_epoch = fit.options.anew ? 0 : fit.options.initial_epoch;
  }
}

void FitLoop::resume(const Checkpoint& checkpoint) {
  const TrainingData data = data_of(fit_);
  checkpoint.warn_of_threads();
  checkpoint.resume(fit_.runner, batch_at(fit_.train, checkpoint.position(data)), data);
  // Epochs of a Trainer count from the start of the training.
  if (fit_.options.anew) fit_.state.fit_epoch = static_cast<int>(fit_.state.epoch);
  epoch_.emplace(fit_);
}

History FitLoop::run() {
  RunningSession& session = fit_.session;
  const Checkpoint* checkpoint = fit_.options.checkpoint;
  session.epoch = fit_.state.fit_epoch;
  for (const Any<Logger>& logger : session.loggers()) {
    if (!session.module().hyperparameters().empty()) logger->log_hyperparams(session.module().hyperparameters());
    logger->log_graph(session.module());
  }
  session.fire(Event::fit_begin, fit_.logs);
  if (checkpoint == nullptr) check_sanity();
  start(checkpoint);
  while (more_epochs() && !fit_.ends()) {
    reload();
    run_epoch();
  }
  if (!fit_.options.anew) {  // as Keras' fit; a Trainer leaves the weights, so that the training can be resumed
    for (const OptimizerConfig& config : fit_.state.optimizers) config.optimizer->finalize_variable_values();
  }
  session.fire(Event::train_end, fit_.logs);
  session.fire(Event::fit_end, fit_.logs);
  return fit_.state.history;
}

void FitLoop::check_sanity() {
  if (fit_.limits.sanity == 0) return;
  RunningSession& session = fit_.session;
  const ScopedValue now(session.sanity, true);
  const MetricScope epoch_metrics(fit_.runner);
  session.fire(Event::sanity_begin, fit_.logs);
  run_evaluation(session, fit_.runner, fit_.validation, Phase::validate, fit_.limits.sanities, fit_.bar);
  Logs none;
  session.fire(Event::validation_end, none);
  session.fire(Event::sanity_end, fit_.logs);
  fit_.logs = Logs();
}

void FitLoop::start(const Checkpoint* checkpoint) {
  RunningSession& session = fit_.session;
  const std::function<void(const std::string&)> resume_from = [&](const std::string& path) {
    const Checkpoint other(path);
    fit_.state.param_groups.clear();
    other.prepare_callbacks(session);
    resume(other);
    other.restore_callbacks(session);
    checkpoint = nullptr;
  };
  {
    const ScopedValue resumable(session.resume_from, resume_from);
    session.fire(Event::train_begin, fit_.logs);
  }
  session.resize_batches = {};
  if (checkpoint != nullptr) checkpoint->restore_callbacks(session);  // after on_train_begin, which resets them
}

bool FitLoop::more_epochs() const {
  return fit_.limits.epoch > 0 && (fit_.options.epochs < 0 || fit_.state.fit_epoch < fit_.options.epochs);
}

void FitLoop::reload() {
  const TrainingState& state = fit_.state;
  if (!fit_.options.reload || state.batch > 0 || !fit_.options.reload(state.fit_epoch)) return;
  require_batches(fit_.source, "fit");
  fit_.renew_data();
  epoch_->reload();
}

void FitLoop::run_epoch() {
  TrainingState& state = fit_.state;
  RunningSession& session = fit_.session;
  const int epoch = session.epoch = state.fit_epoch;
  epoch_->run();
  const std::int64_t done = state.batch;
  if (epoch_->complete()) {
    ++state.epoch;
    ++state.fit_epoch;
    state.batch = 0;
  }
  fit_.logs = Logs();
  for (const auto& [name, number] : epoch_->numbers(false)) fit_.logs.set(name, number);
  if (epoch_->non_finite()) fit_.logs.set("loss", std::numeric_limits<double>::quiet_NaN());
  for (const auto& [name, number] : state.validated) fit_.logs.set(name, number);
  const Logs before = fit_.logs;
  session.fire(Event::epoch_end, fit_.logs, epoch);
  Numbers shown = epoch_->numbers(true);
  for (const auto& [name, number] : state.validated) {
    if (state.validated_in_bar.count(name) == 1) shown.emplace_back(name, number);
  }
  Logs logged = state.epoch_means.for_loggers_by_epoch();
  for (const auto& [name, number] : fit_.logs) {
    if (before.contains(name)) continue;
    shown.emplace_back(name, number);
    logged.set(name, number);
  }
  if (!logged.empty()) logged.set("epoch", epoch);
  session.log_metrics(logged);
  state.history.add(epoch, fit_.logs);
  fit_.bar.end(done, shown);
  if (const Any<Profiler>& profiler = fit_.options.call.profiler) profiler->on_epoch_end(fit_.runner.module(), epoch);
}

void validate_in_fit(Fit& fit, const Numbers& shown) {
  const Action action(fit.options.call.profiler, "run_validation");
  TrainingState& state = fit.state;
  const BatchBar::Rest rest(fit.bar, state.batch, shown);
  Numbers for_history, for_bar;
  Logs for_loggers;
  {
    const MetricScope epoch_metrics(fit.runner);
    const Means means =
        run_evaluation(fit.session, fit.runner, fit.validation, Phase::validate, fit.limits.validations, fit.bar);
    for_history = means.for_history();
    for_bar = means.for_bar();
    for_loggers = means.for_loggers_by_epoch();
  }
  const bool all = fit.runner.module().prefixes_validation();
  const auto key = [&](const std::string& name) {
    const bool prefixed = all || state.epoch_means.has(name.substr(0, name.find("/dataloader_idx_")));
    return (prefixed ? "val_" : "") + name;
  };
  state.validated.clear();
  state.validated_in_bar.clear();
  for (const auto& [name, number] : for_history) state.validated.emplace_back(key(name), number);
  for (const auto& [name, number] : for_bar) state.validated_in_bar.insert(key(name));
  state.validated_at = state.batch;
  Logs logs;
  state.epoch_means.write(logs);
  for (const auto& [name, number] : state.validated) logs.set(name, number);
  fit.session.fire(Event::validation_end, logs);
  Logs logged;
  for (const auto& [name, number] : for_loggers) logged.set(key(name), number);
  if (logged.empty()) return;
  logged.set("epoch", fit.session.epoch);
  fit.session.log_metrics(logged);
}

namespace {

/// Saves the training before the process ends, and tells where.
void save_interrupted(const Fit& fit, const Interrupted& error) {
  const std::string& path = fit.options.interrupt_checkpoint;
  if (path.empty()) return;
  try {
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
  const CallScope scope(module, Stage::fit, options.call);
  if (options.call.load) {
    options.call.load();
    measure();
  }
  FitLimits& limits = *measured;
  RunOptions chosen = run;
  if (options.chooses_policy) {
    const auto before = options.checkpoint == nullptr ? std::optional<Policy>() : options.checkpoint->chosen();
    chosen.policy = before ? *before : choose_policy(module, train, run);
    training_state(module).chosen = chosen.policy;
  }
  warn_if_slow(module, train, chosen, limits.planned_steps(options));
  StepRunner runner(module, chosen);
  RunningSession session(scope, runner);
  session.limits.epochs = options.epochs;
  session.limits.steps = known_batches(limits.epoch);
  session.accumulates = options.anew;
  session.log_every_n_steps = options.log_every_n_steps;
  if (options.checkpoint != nullptr) session.resumed_from = options.checkpoint->path();
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
    History history = loop.run();
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
