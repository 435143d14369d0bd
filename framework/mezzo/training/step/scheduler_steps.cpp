#include <mezzo/training/step/scheduler_steps.hpp>

#include <algorithm>
#include <limits>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/training/step/training_state.hpp>

namespace mezzo::detail {
namespace {

const LearningRate* schedule_of(const OptimizerConfig& config) {
  return config.lr_scheduler ? std::get_if<LearningRate>(&config.lr_scheduler->scheduler) : nullptr;
}

const Plateau* plateau_of(const OptimizerConfig& config) {
  return config.lr_scheduler ? std::get_if<Plateau>(&config.lr_scheduler->scheduler) : nullptr;
}

bool due_at(const OptimizerConfig& config, std::int64_t index) {
  return (index + 1) % config.lr_scheduler->frequency == 0;
}

bool by_steps(const OptimizerConfig& config) { return config.lr_scheduler->interval == "step"; }

void note_numbers(Optimizing& optimizing, const Logs& logs) {
  for (std::size_t i = 0; i < optimizing.optimizers.size(); ++i) {
    const OptimizerConfig& config = optimizing.optimizers[i];
    if (plateau_of(config) == nullptr) continue;
    const std::string& monitor = config.lr_scheduler->monitor;
    if (logs.contains(monitor)) optimizing.schedulers[i].number = logs.at(monitor);
  }
}

void step_plateau(const OptimizerConfig& config, const Plateau& plateau, SchedulerState& state) {
  if (!state.number) {
    const std::string text = fmt::format(
        "lr_scheduler of optimizer \"{}\": the number \"{}\" must be logged before the scheduler steps; got none",
        config.name, config.lr_scheduler->monitor);
    if (config.lr_scheduler->strict) fail<ValueError>("[Trainer]", "{}", text);
    warn(fmt::format("[Trainer] {}", text));
    return;
  }
  ++state.steps;
  const PlateauOptions& options = plateau.options();
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  if (plateau.improves(*state.number, state.best.value_or(none))) {
    state.best = state.number;
    state.waits = 0;
  } else {
    ++state.waits;
  }
  if (state.cooldown > 0) {
    --state.cooldown;
    state.waits = 0;
  }
  if (state.waits <= options.patience) return;
  state.cooldown = options.cooldown;
  state.waits = 0;
  const double before = config.optimizer->learning_rate();
  const double after = std::max(before * options.factor, options.min_lr);
  if (before - after > options.eps) config.optimizer->set_learning_rate(after);
}

}  // namespace

void check_scheduler(const OptimizerConfig& config) {
  if (!config.lr_scheduler) return;
  const std::string where = fmt::format("[Trainer] lr_scheduler of optimizer \"{}\":", config.name);
  const LRSchedulerConfig& scheduler = *config.lr_scheduler;
  if (scheduler.interval != "step" && scheduler.interval != "epoch") {
    fail_unknown(where, "interval", scheduler.interval, std::vector<std::string>{"step", "epoch"});
  }
  if (scheduler.frequency < 1) fail<ValueError>(where, "frequency must be at least 1; got {}", scheduler.frequency);
  if (config.optimizer->common().learning_rate.is_schedule()) {
    fail<ValueError>(where, "the optimizer's learning_rate must be a number; got a Schedule");
  }
  const LearningRate* const schedule = schedule_of(config);
  if (schedule != nullptr && !schedule->is_schedule()) {
    fail<ValueError>(where, "scheduler must be a Schedule, a function or a Plateau; got the number {}",
                     schedule->at(0));
  }
  if (schedule == nullptr && scheduler.monitor.empty()) {
    fail<ValueError>(where, "monitor must be the name of a number for a Plateau; got none");
  }
}

Optimizing& SchedulerSteps::optimizing() const {
  Optimizing& state = training_state(session().module());
  state.schedulers.resize(state.optimizers.size());
  return state;
}

void SchedulerSteps::on_train_begin(Logs&) {
  const Optimizing& state = optimizing();
  for (std::size_t i = 0; i < state.optimizers.size(); ++i) {
    const OptimizerConfig& config = state.optimizers[i];
    const LearningRate* const schedule = schedule_of(config);
    if (schedule != nullptr) config.optimizer->set_learning_rate(schedule->at(state.schedulers[i].steps));
  }
}

void SchedulerSteps::step_waiting() const {
  Optimizing& state = optimizing();
  for (std::size_t i = 0; i < state.optimizers.size(); ++i) {
    SchedulerState& scheduler = state.schedulers[i];
    const Plateau* const plateau = plateau_of(state.optimizers[i]);
    if (plateau == nullptr || !scheduler.waiting) continue;
    scheduler.waiting = false;
    step_plateau(state.optimizers[i], *plateau, scheduler);
  }
}

void SchedulerSteps::on_train_batch_begin(std::int64_t, Logs&) {
  step_waiting();
  iterations_.clear();
  for (const OptimizerConfig& config : session().optimizers()) iterations_.push_back(config.optimizer->iterations());
}

void SchedulerSteps::on_train_batch_end(std::int64_t batch, Logs& logs) {
  Optimizing& state = optimizing();
  const RunningFit& running = training_state(session().module());
  note_numbers(state, logs);
  for (std::size_t i = 0; i < state.optimizers.size(); ++i) {
    const OptimizerConfig& config = state.optimizers[i];
    if (!config.lr_scheduler) continue;
    const bool due = by_steps(config) ? config.optimizer->iterations() > iterations_[i] && due_at(config, batch)
                                      : running.last_of_epoch && due_at(config, session().current_epoch());
    if (!due) continue;
    if (const LearningRate* const schedule = schedule_of(config)) {
      config.optimizer->set_learning_rate(schedule->at(++state.schedulers[i].steps));
    } else if (by_steps(config)) {
      state.schedulers[i].waiting = true;
    }
  }
}

void SchedulerSteps::on_validation_end(Logs& logs) { note_numbers(optimizing(), logs); }

void SchedulerSteps::on_epoch_end(int, Logs&) { step_waiting(); }

void PlateauSteps::on_epoch_end(int epoch, Logs& logs) {
  Optimizing& state = training_state(session().module());
  const Progress& progress = training_state(session().module());
  note_numbers(state, logs);
  if (progress.batch != 0) return;  // a limit or a stop has cut the epoch off
  for (std::size_t i = 0; i < state.optimizers.size(); ++i) {
    const OptimizerConfig& config = state.optimizers[i];
    const Plateau* const plateau = plateau_of(config);
    const bool due = plateau != nullptr && !by_steps(config) && due_at(config, epoch);
    if (due && !state.schedulers[i].number && session().awaits_validation()) continue;
    if (due) step_plateau(config, *plateau, state.schedulers[i]);
  }
}

}  // namespace mezzo::detail
