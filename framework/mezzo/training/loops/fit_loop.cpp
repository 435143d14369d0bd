#include <mezzo/training/loops/fit_loop.hpp>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include <mezzo/compiler/overflow.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/core/scoped_value.hpp>
#include <mezzo/training/slow_policy.hpp>

namespace mezzo::detail {
namespace {

std::int64_t steps_per_epoch(const DataLoader& train, const LoopOptions& options) {
  if (options.steps_per_epoch && *options.steps_per_epoch < 1) {
    fail<ValueError>("[Trainer]", "steps_per_epoch must be at least 1; got {}", *options.steps_per_epoch);
  }
  return options.steps_per_epoch.value_or(train.size());
}

/// Number of steps that the loop is to run; not less than the limits allow.
std::int64_t planned_steps(const DataLoader& train, const LoopOptions& options) {
  constexpr auto unlimited = std::numeric_limits<std::int64_t>::max();
  const std::int64_t epoch = steps_per_epoch(train, options);
  const std::int64_t epochs = std::max(0, options.epochs - options.initial_epoch);
  const std::int64_t by_epochs = options.epochs < 0 || epochs > unlimited / epoch ? unlimited : epochs * epoch;
  return options.max_steps < 0 ? by_epochs : std::min(by_epochs, options.max_steps);
}

HostBatch first_batch(const DataLoader& loader) { return *loader.epoch(0).next(); }

/// Skips the rest of an unfinished epoch.
void begin_whole_epoch(Progress& progress) {
  if (progress.batch > 0) ++progress.epoch;
  if (progress.position > 0) ++progress.pass;
  progress.batch = progress.position = 0;
}

}  // namespace

FitLoop::FitLoop(StepRunner& runner, const DataLoader& train, const DataLoader& validation, const LoopOptions& options)
    : runner_(runner),
      state_(training_state(runner.module())),
      train_(train),
      validation_(validation),
      options_(options),
      epoch_steps_(steps_per_epoch(train, options)),
      bar_(options.verbose, epoch_steps_) {
  if (!validation.empty()) validation_steps_ = limited_steps(validation, options.validation_steps, "validation_steps");
  if (options.anew || !state_.configured) {
    tell_of_emulation(state_, runner.rehearse(Phase::train, first_batch(train)));
  }
  if (!validation.empty()) runner.rehearse(Phase::validate, first_batch(validation));
  state_.history = {};
  state_.epoch_means = {};
  state_.resumed_metrics.clear();
  if (options.checkpoint != nullptr) {
    resume(*options.checkpoint);
  } else {
    runner.configure(options.anew);
    begin_whole_epoch(state_);
    state_.fit_epoch = options.anew ? 0 : options.initial_epoch;
  }
}

void FitLoop::resume(const Checkpoint& checkpoint) {
  checkpoint.resume(runner_, first_batch(train_), epoch_steps_, train_.size());
  if (options_.anew) {
    steps_done_ = state_.step;
    state_.fit_epoch = static_cast<int>(state_.epoch);  // epochs of a Trainer count from the start of the training
  }
  stream_.reset();
}

History FitLoop::run() {
  RunningSession session(Session::Verb::fit, runner_, options_.callbacks,
                         {.epochs = options_.epochs, .steps = epoch_steps_, .verbose = options_.verbose});
  const Checkpoint* from = options_.checkpoint;
  const std::function<void(const std::string&)> resume_from = [&](const std::string& path) {
    const Checkpoint checkpoint(path);
    resume(checkpoint);
    checkpoint.restore_callbacks(session);
    from = nullptr;
  };
  try {
    {
      const ScopedValue resumable(session.resume_from, resume_from);
      session.epoch = state_.fit_epoch;
      session.fire(Event::train_begin, logs_);
    }
    if (from != nullptr) from->restore_callbacks(session);  // after on_train_begin, which resets them
    while (more_epochs() && more_steps() && !session.stopping()) run_epoch(session);
    if (!options_.anew) {  // as Keras' fit; a Trainer leaves the weights, so that the training can be resumed
      for (const OptimizerConfig& config : state_.optimizers) config.optimizer->finalize_variable_values();
    }
    session.fire(Event::train_end, logs_);
  } catch (const std::exception& error) {
    session.fail_with(error, logs_);
    throw;
  }
  return state_.history;
}

void FitLoop::run_epoch(RunningSession& session) {
  const int epoch = session.epoch = state_.fit_epoch;
  if (state_.batch == 0) {
    state_.epoch_means = {};
    runner_.metrics().begin();
    state_.resumed_metrics.clear();  // of an epoch that was resumed after its last step
    scaling_.emplace(runner_);
    state_.skipped_before = scaling_->before();
  } else {
    scaling_.emplace(runner_, state_.skipped_before);  // a resumed epoch
  }
  logs_ = Logs();
  session.fire(Event::epoch_begin, epoch, logs_);
  train_batches(session);
  const std::int64_t done = state_.batch;
  if (done >= epoch_steps_) {
    ++state_.epoch;
    ++state_.fit_epoch;
    state_.batch = 0;
  }
  const Numbers all = numbers(false);
  logs_ = Logs();
  for (const auto& [name, number] : all) set_log(logs_, name, number);
  if (non_finite_) set_log(logs_, "loss", std::numeric_limits<double>::quiet_NaN());
  Numbers shown = numbers(true);
  if (!validation_.empty() && options_.validation_freq.due(epoch)) validate(session, logs_, shown);
  const Logs before = session.has_callbacks() ? logs_ : Logs();
  session.fire(Event::epoch_end, epoch, logs_);
  if (session.has_callbacks()) {
    for (const auto& [name, number] : logs_) {
      if (before.count(name) == 0) shown.emplace_back(name, number);
    }
  }
  state_.history.add(epoch, logs_);
  bar_.end(done, shown);
}

void FitLoop::train_batches(RunningSession& session) {
  bar_.begin(options_.epochs < 0 ? fmt::format("Epoch {}", session.epoch + 1)
                                 : fmt::format("Epoch {}/{}", session.epoch + 1, options_.epochs),
             state_.batch);
  while (state_.batch < epoch_steps_ && more_steps() && !session.stopping()) {
    const HostBatch batch = next_batch();
    session.fire(Event::train_batch_begin, state_.batch, logs_);
    if (!step(session, batch)) return;
    state_.epoch_means.add(runner_, batch.size);
    ++state_.batch;
    ++steps_done_;
    if (++state_.position == train_.size()) {
      state_.position = 0;
      ++state_.pass;
      stream_.reset();
    }
    if (session.has_callbacks()) {
      state_.epoch_means.write(logs_);
      session.fire(Event::train_batch_end, state_.batch - 1, logs_);
    }
    if (bar_.due()) bar_.show(state_.batch, numbers(true));
  }
}

bool FitLoop::step(RunningSession& session, const HostBatch& batch) {
  try {
    runner_.run(Phase::train, batch);
    return true;
  } catch (const NonFiniteError& error) {
    if (!session.absorbs_non_finite(state_.batch, error.what())) throw;
  }
  non_finite_ = true;
  session.stop();
  return false;
}

HostBatch FitLoop::next_batch() {
  if (!stream_) stream_.emplace(train_.epoch(state_.pass, state_.position));
  auto batch = stream_->next();
  if (!batch)
    fail<ValueError>("[Trainer]", "fit: the loader must give {} batches; got {}", train_.size(), state_.position);
  return std::move(*batch);
}

void FitLoop::validate(RunningSession& session, Logs& logs, Numbers& shown) {
  const MetricScope epoch_metrics(runner_);
  const ProgressBar::Rest rest(bar_, session.current_batch() + 1, shown);
  const Means validated = run_evaluation(session, runner_, validation_, Phase::validate, validation_steps_, bar_);
  const bool all = runner_.module().prefixes_validation();
  const auto key = [&](const std::string& name) { return (all || state_.epoch_means.has(name) ? "val_" : "") + name; };
  for (const auto& [name, number] : validated.numbers(false)) set_log(logs, key(name), number);
  for (const auto& [name, number] : validated.numbers(true)) shown.emplace_back(key(name), number);
}

Numbers FitLoop::numbers(bool prog_bar_only) const {
  Numbers out = state_.epoch_means.numbers(prog_bar_only);
  for (const auto& entry : scaling_->numbers()) {
    if (!state_.epoch_means.has(entry.first)) out.push_back(entry);  // names that the module logs take precedence
  }
  return out;
}

History fit(Module& module, const DataLoader& train, const DataLoader& validation, const RunOptions& run,
            const LoopOptions& options) try {
  require_batches(train, "fit");
  warn_if_slow(module, train, run, planned_steps(train, options));
  StepRunner runner(module, run);
  return FitLoop(runner, train, validation, options).run();
} catch (const std::bad_alloc&) {
  fail_without_memory("fit");
}

}  // namespace mezzo::detail
