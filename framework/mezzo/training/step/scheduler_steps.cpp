#include <mezzo/training/step/scheduler_steps.hpp>

#include <algorithm>
#include <iterator>
#include <limits>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/training/step/training_state.hpp>

namespace mezzo::detail {
namespace {

const LearningRate* schedule_of(const LRSchedulerConfig& scheduler) {
  return std::get_if<LearningRate>(&scheduler.scheduler);
}

const Plateau* plateau_of(const LRSchedulerConfig& scheduler) { return std::get_if<Plateau>(&scheduler.scheduler); }

/// The scheduler that is active; null without any.
const LRSchedulerConfig* active_of(const OptimizerConfig& config, const SchedulerState& state) {
  return config.lr_scheduler.empty() ? nullptr : &config.lr_scheduler[state.active];
}

/// The active scheduler if it is a Plateau, else null.
const LRSchedulerConfig* active_plateau(const OptimizerConfig& config, const SchedulerState& state) {
  const LRSchedulerConfig* const active = active_of(config, state);
  return active != nullptr && plateau_of(*active) != nullptr ? active : nullptr;
}

bool due_at(const LRSchedulerConfig& scheduler, std::int64_t index) { return (index + 1) % scheduler.frequency == 0; }

bool by_steps(const LRSchedulerConfig& scheduler) { return scheduler.interval == "step"; }

void note_numbers(Optimizing& optimizing, const Logs& logs) {
  for (std::size_t i = 0; i < optimizing.optimizers.size(); ++i) {
    const LRSchedulerConfig* const active = active_plateau(optimizing.optimizers[i], optimizing.schedulers[i]);
    if (active != nullptr && logs.contains(active->monitor)) optimizing.schedulers[i].number = logs.at(active->monitor);
  }
}

/// Sets the rate that a schedule has after the steps so far.
void set_scheduled_rate(const OptimizerConfig& config, const SchedulerState& state) {
  const LRSchedulerConfig* const active = active_of(config, state);
  const LearningRate* const schedule = active == nullptr ? nullptr : schedule_of(*active);
  if (schedule != nullptr) config.optimizer->set_learning_rate(schedule->at(state.steps));
}

/// Lets the next scheduler take over once the active one has made its steps.
void follow(SchedulerState& state, const LRSchedulerConfig& active) {
  if (state.steps == active.steps) state = {.active = state.active + 1};
}

void step_plateau(const OptimizerConfig& config, SchedulerState& state) {
  const LRSchedulerConfig& active = *active_of(config, state);
  const Plateau& plateau = *plateau_of(active);
  if (!state.number) {
    const std::string text = fmt::format(
        "lr_scheduler of optimizer \"{}\": the number \"{}\" must be logged before the scheduler steps; got none",
        config.name, active.monitor);
    if (active.strict) fail<ValueError>("[Trainer]", "{}", text);
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
  if (state.waits > options.patience) {
    state.cooldown = options.cooldown;
    state.waits = 0;
    const double before = config.optimizer->learning_rate();
    const double after = std::max(before * options.factor, options.min_lr);
    if (before - after > options.eps) config.optimizer->set_learning_rate(after);
  }
  follow(state, active);
  set_scheduled_rate(config, state);
}

void check_one(const LRSchedulerConfig& scheduler, bool last, const std::string& where) {
  if (scheduler.interval != "step" && scheduler.interval != "epoch") {
    fail_unknown(where, "interval", scheduler.interval, {"step", "epoch"});
  }
  if (scheduler.frequency < 1) fail<ValueError>(where, "frequency must be at least 1; got {}", scheduler.frequency);
  const LearningRate* const schedule = schedule_of(scheduler);
  if (schedule != nullptr && !schedule->is_schedule()) {
    fail<ValueError>(where, "scheduler must be a Schedule, a function or a Plateau; got the number {}",
                     schedule->at(0));
  }
  if (schedule == nullptr && scheduler.monitor.empty()) {
    fail<ValueError>(where, "monitor must be the name of a number for a Plateau; got none");
  }
  if (last && scheduler.steps != -1) {
    fail<ValueError>(where, "steps must be -1 for the last scheduler, which none follows; got {}", scheduler.steps);
  }
  if (!last && scheduler.steps < 1) {
    fail<ValueError>(where, "steps must be at least 1 for a scheduler that another one follows; got {}",
                     scheduler.steps);
  }
}

}  // namespace

void check_scheduler(const OptimizerConfig& config) {
  if (config.lr_scheduler.empty()) return;
  const std::string where = fmt::format("[Trainer] lr_scheduler of optimizer \"{}\":", config.name);
  for (const LRSchedulerConfig& one : config.lr_scheduler) {
    check_one(one, &one == &*std::prev(config.lr_scheduler.end()), where);
  }
  if (config.optimizer->common().learning_rate.is_schedule()) {
    fail<ValueError>(where, "the optimizer's learning_rate must be a number; got a Schedule");
  }
}

Optimizing& SchedulerSteps::optimizing() const {
  Optimizing& state = training_state(session().module());
  state.schedulers.resize(state.optimizers.size());
  return state;
}

void SchedulerSteps::on_train_begin(Logs&) {
  const Optimizing& state = optimizing();
  for (std::size_t i = 0; i < state.optimizers.size(); ++i)
    set_scheduled_rate(state.optimizers[i], state.schedulers[i]);
}

void SchedulerSteps::step_waiting() const {
  Optimizing& state = optimizing();
  for (std::size_t i = 0; i < state.optimizers.size(); ++i) {
    SchedulerState& scheduler = state.schedulers[i];
    if (!scheduler.waiting || active_plateau(state.optimizers[i], scheduler) == nullptr) continue;
    scheduler.waiting = false;
    step_plateau(state.optimizers[i], scheduler);
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
    SchedulerState& scheduler = state.schedulers[i];
    const LRSchedulerConfig* const active = active_of(config, scheduler);
    if (active == nullptr) continue;
    const bool due = by_steps(*active) ? config.optimizer->iterations() > iterations_[i] && due_at(*active, batch)
                                       : running.last_of_epoch && due_at(*active, session().current_epoch());
    if (!due) continue;
    if (schedule_of(*active) != nullptr) {
      ++scheduler.steps;
      follow(scheduler, *active);
      set_scheduled_rate(config, scheduler);
    } else if (by_steps(*active)) {
      scheduler.waiting = true;
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
    const LRSchedulerConfig* const active = active_plateau(state.optimizers[i], state.schedulers[i]);
    if (active == nullptr || by_steps(*active) || !due_at(*active, epoch)) continue;
    if (!state.schedulers[i].number && session().awaits_validation()) continue;
    step_plateau(state.optimizers[i], state.schedulers[i]);
  }
}

}  // namespace mezzo::detail
