#include <mezzo/training/loops/fit_loop.hpp>

#include <mezzo/core/output.hpp>
#include <mezzo/core/scoped_value.hpp>
#include <mezzo/training/loops/fit_group.hpp>
#include <mezzo/training/module/action.hpp>
#include <mezzo/training/step/lost_updates.hpp>
#include <mezzo/training/step/metric_scope.hpp>

namespace mezzo::detail {

namespace {

/// Adds the time of an epoch to that of the training, also after an error.
class CountedTime {
 public:
  explicit CountedTime(RunningSession& session) : session_(session) {}
  ~CountedTime() { session_.count_time(); }
  CountedTime(const CountedTime&) = delete;
  CountedTime& operator=(const CountedTime&) = delete;

 private:
  RunningSession& session_;
};

/// Warns, as Lightning, if loggers get few or no numbers of single steps.
void warn_of_log_interval(const FitLimits& limits, const FitSettings& settings) {
  if (settings.call.loggers.empty() || limits.epoch == 0 || limits.epoch >= settings.log_every_n_steps) return;
  warn(
      fmt::format("[Trainer] fit: an epoch has {} batches, and loggers get the numbers of single steps every {} steps: "
                  "set a lower log_every_n_steps to see those of each epoch",
                  limits.epoch, settings.log_every_n_steps));
}

}  // namespace

History FitLoop::run() {
  RunningSession& session = fit_.session;
  session.restart_clock();
  const Checkpoint* checkpoint = fit_.settings.checkpoint;
  session.epoch = fit_.progress.fit_epoch;
  for (const Any<Logger>& logger : session.loggers()) {
    if (!session.module().hyperparameters().empty()) logger->log_hyperparams(session.module().hyperparameters());
    logger->log_graph(session.module());
  }
  warn_of_log_interval(fit_.limits, fit_.settings);
  session.fire(Event::fit_begin, fit_.logs);
  if (checkpoint == nullptr) check_sanity();
  start(checkpoint);
  agree_in_group(fit_);
  while (more_epochs() && !fit_.ends()) {
    reload();
    run_epoch();
    agree_in_group(fit_);
  }
  if (!fit_.settings.reset) {  // as Keras' fit; a Trainer leaves the weights, so that the training can be resumed
    for (const OptimizerConfig& config : fit_.runner.optimizers()) config.optimizer->finalize_variable_values();
  }
  session.fire(Event::train_end, fit_.logs);
  session.fire(Event::fit_end, fit_.logs);
  return fit_.record.history;
}

bool FitLoop::more_epochs() const {
  return fit_.limits.epoch > 0 && (fit_.settings.epochs < 0 || fit_.progress.fit_epoch < fit_.settings.epochs);
}

void FitLoop::reload() {
  const Progress& progress = fit_.progress;
  if (!fit_.settings.reload || progress.batch > 0 || !fit_.settings.reload(progress.fit_epoch)) return;
  require_batches(fit_.source, "fit");
  fit_.renew_data();
  epoch_->reload();
}

void FitLoop::run_epoch() {
  Progress& progress = fit_.progress;
  FitRecord& record = fit_.record;
  RunningSession& session = fit_.session;
  const CountedTime counted(session);
  const int epoch = session.epoch = progress.fit_epoch;
  epoch_->run();
  const std::int64_t done = progress.batch;
  if (epoch_->complete()) {
    ++progress.epoch;
    ++progress.fit_epoch;
    progress.batch = 0;
  }
  if (fit_.runner.group().writes()) warn_of_lost_updates(fit_.runner.state().notices, fit_.runner.update_count, epoch);
  fit_.logs = Logs();
  for (const auto& [name, number] : epoch_->numbers(false)) fit_.logs.set(name, number);
  if (epoch_->non_finite()) fit_.logs.set("loss", std::numeric_limits<double>::quiet_NaN());
  for (const auto& [name, number] : record.validated) fit_.logs.set(name, number);
  const Logs before = fit_.logs;
  session.fire(Event::epoch_end, fit_.logs, epoch);
  const bool all = session.verbose() == 2;
  Numbers shown = epoch_->numbers(true);
  if (all) add_missing(shown, epoch_->numbers(false));
  for (const auto& [name, number] : record.validated) {
    if (all || record.validated_in_bar.count(name) == 1) shown.emplace_back(name, number);
  }
  Logs logged = record.epoch_means.for_loggers_by_epoch();
  epoch_->write_scaling(logged);
  for (const auto& [name, number] : fit_.logs) {
    if (before.contains(name)) continue;
    shown.emplace_back(name, number);
    logged.set(name, number);
  }
  if (!logged.empty()) logged.set("epoch", epoch);
  session.log_metrics(logged);
  record.history.add(epoch, fit_.logs);
  fit_.bar.end(done, shown);
  if (const Any<Profiler>& profiler = fit_.settings.call.profiler) profiler->on_epoch_end(fit_.runner.module(), epoch);
}

void validate_in_fit(Fit& fit, const Numbers& shown) {
  const Action action(fit.settings.call.profiler, "run_validation");
  const Progress& progress = fit.progress;
  FitRecord& record = fit.record;
  const BatchBar::Rest rest(fit.bar, progress.batch, shown);
  const bool all = fit.runner.module().prefixes_validation();
  const Means::Key key = [&](const std::string& name) {
    const bool prefixed = all || record.epoch_means.has(name.substr(0, name.find("/dataloader_idx_")));
    return (prefixed ? "val_" : "") + name;
  };
  Numbers for_history, for_bar;
  Logs logged;
  {
    const MetricScope epoch_metrics(fit.running, fit.runner.metrics());
    const Means means =
        run_evaluation(fit.session, fit.runner, fit.validation, Stage::validate, fit.limits.validations, fit.bar, key)
            .means;
    for_history = means.for_history();
    for_bar = means.for_bar();
    logged = means.for_loggers_by_epoch(key);
  }
  record.validated.clear();
  record.validated_in_bar.clear();
  for (const auto& [name, number] : for_history) record.validated.emplace_back(key(name), number);
  for (const auto& [name, number] : for_bar) record.validated_in_bar.insert(key(name));
  record.validated_at = progress.batch;
  Logs logs;
  record.epoch_means.write(logs);
  for (const auto& [name, number] : record.validated) logs.set(name, number);
  const Logs before = logs;
  fit.session.fire(Event::validation_end, logs);
  for (const auto& [name, number] : logs) {
    if (before.contains(name)) continue;
    record.validated.emplace_back(name, number);  // of callbacks
    logged.set(name, number);
  }
  if (logged.empty()) return;
  logged.set("epoch", fit.session.epoch);
  fit.session.log_metrics(logged);
}

}  // namespace mezzo::detail
