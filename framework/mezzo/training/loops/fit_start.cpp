// The start of a fit: rehearsals of its steps, optimizers, a resume, the sanity check.
#include <mezzo/training/loops/fit_loop.hpp>

#include <functional>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/core/scoped_value.hpp>
#include <mezzo/training/checkpoints/checkpoint.hpp>
#include <mezzo/training/loops/fit_group.hpp>
#include <mezzo/training/step/emulation.hpp>
#include <mezzo/training/step/metric_scope.hpp>

namespace mezzo::detail {
namespace {

/// The batch at a position. The loader keeps it for the stream that begins there.
HostBatch batch_at(const DataLoader& loader, const LoaderPosition& position = {}) {
  // In the middle of a pass, batches of a CombinedLoader may lack fields.
  const LoaderPosition from = loader.combination() == nullptr ? position : LoaderPosition{.epoch = position.epoch};
  BatchStream stream = loader.stream(from, 1);
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
          .by_samples = fit.settings.by_samples};
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

FitLoop::FitLoop(Fit& fit) : fit_(fit), epoch_(fit) {
  StepRunner& runner = fit.runner;
  Progress& progress = fit.progress;
  FitRecord& record = fit.record;
  const Checkpoint* const checkpoint = fit.settings.checkpoint;
  const FitRecord earlier = record;
  record.param_groups.clear();
  fit.running.shared_states.reset();
  if (fit.settings.reset || !runner.state().configured) {
    const LoaderPosition start = checkpoint == nullptr ? LoaderPosition() : expected_position(*checkpoint, fit);
    Graph traced = runner.rehearse(Stage::fit, batch_at(fit.train, start));
    // A step that leaves out batches of this shape builds no layers.
    if (traced.outputs.empty() && checkpoint != nullptr) traced = runner.rehearse(Stage::fit, batch_at(fit.train));
    report_emulation(runner.state().notices, traced);
  }
  for (std::size_t i = 0; i < fit.limits.validations.size(); ++i) {
    if (fit.limits.validations[i] == 0) continue;
    const LoaderScope scope(fit.session, runner, i);
    runner.rehearse(Stage::validate, batch_at(fit.validation[i]));
  }
  record.data = fit.train.fingerprint();
  record.history = {};
  record.epoch_means = {};
  record.resumed_metrics.clear();
  record.evaluated_batches.clear();
  if (checkpoint != nullptr) {
    try {
      resume(*checkpoint);
    } catch (...) {
      record = earlier;
      throw;
    }
  } else {
    runner.configure(fit.settings.reset);
    begin_whole_epoch(progress);
    progress.fit_epoch = fit.settings.reset ? 0 : fit.settings.initial_epoch;
  }
  start_in_group(fit);
}

void FitLoop::resume(const Checkpoint& checkpoint) {
  fit_.record.param_groups.clear();
  checkpoint.prepare_callbacks(fit_.session.stateful());  // may replace the data
  const TrainingData data = data_of(fit_);
  checkpoint.warn_of_threads();
  checkpoint.resume(fit_.runner, batch_at(fit_.train, checkpoint.position(data)), data);
  fit_.runner.record().resume();
  // Epochs of a Trainer count from the start of the training.
  if (fit_.settings.reset) fit_.progress.fit_epoch = static_cast<int>(fit_.progress.epoch);
  epoch_.emplace(fit_);
  if (fit_.running.shared_states) fit_.running.shared_states->divide(fit_.runner.optimizers());
  if (fit_.runner.group().writes()) tell_resume(checkpoint.path());
}

void FitLoop::tell_resume(const std::string& path) const {
  const Progress& progress = fit_.progress;
  const FitSettings& settings = fit_.settings;
  const auto end = [&](const char* option, auto limit, auto done) {
    warn(fmt::format("[Trainer] fit: nothing is left to train after checkpoint \"{}\": {} must be above {}; got {}",
                     path, option, done, limit));
  };
  if (settings.epochs >= 0 && progress.fit_epoch >= settings.epochs) {
    return end(settings.reset ? "max_epochs" : "epochs", settings.epochs, progress.fit_epoch);
  }
  if (settings.max_steps >= 0 && progress.updates >= settings.max_steps) {
    return end("max_steps", settings.max_steps, progress.updates);
  }
  if (settings.max_seconds > 0 && progress.seconds >= settings.max_seconds) {
    return end("max_time", settings.max_seconds, progress.seconds);
  }
  const std::string batches = progress.batch == 0 ? "" : fmt::format(", after batch {} of it", progress.batch);
  write_line(fmt::format("[Trainer] fit: goes on in epoch {}{}, from \"{}\"", progress.fit_epoch + 1, batches, path));
}

void FitLoop::check_sanity() {
  if (fit_.limits.sanity == 0) return;
  RunningSession& session = fit_.session;
  const ScopedValue now(session.sanity, true);
  const MetricScope epoch_metrics(fit_.running, fit_.runner.metrics());
  session.fire(Event::sanity_begin, fit_.logs);
  run_evaluation(session, fit_.runner, fit_.validation, Stage::validate, fit_.limits.sanities, fit_.bar);
  Logs none;
  session.fire(Event::validation_end, none);
  session.fire(Event::sanity_end, fit_.logs);
  fit_.logs = Logs();
}

void FitLoop::start(const Checkpoint* checkpoint) {
  RunningSession& session = fit_.session;
  std::optional<Checkpoint> other;
  const std::function<void(const std::string&)> resume_from = [&](const std::string& path) {
    resume(other.emplace(path));
    checkpoint = &*other;
  };
  {
    const ScopedValue resumable(session.resume_from, resume_from);
    session.fire(Event::train_begin, fit_.logs);
  }
  session.resize_batches = {};
  if (checkpoint != nullptr)
    checkpoint->restore_callbacks(session.stateful());  // after on_train_begin, which resets them
}

}  // namespace mezzo::detail
