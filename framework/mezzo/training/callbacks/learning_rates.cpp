#include <cmath>
#include <limits>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/training/callbacks/learning_rate_scheduler.hpp>
#include <mezzo/training/callbacks/learning_rates.hpp>
#include <mezzo/training/callbacks/reduce_lr_on_plateau.hpp>
#include <mezzo/training/loggers/log_text.hpp>
#include <mezzo/training/loops/texts.hpp>

namespace mezzo {
namespace detail {

void add_learning_rates(const Session& session, Logs& logs) {
  const OptimizerConfigs& all = session.optimizers();
  for (const OptimizerConfig& config : all) {
    set_log(logs, all.size() > 1 ? "learning_rate_" + config.name : "learning_rate", config.optimizer->learning_rate());
  }
}

std::string named(const Session& session, const OptimizerConfig& config) {
  return session.optimizers().size() > 1 ? " of " + config.name : "";
}

}  // namespace detail

ReduceLROnPlateau::ReduceLROnPlateau(ReduceLROnPlateauOptions options)
    : options_(std::move(options)), monitor_("ReduceLROnPlateau", options_.monitor, options_.mode, options_.min_delta) {
  const auto require = [](bool good, const char* option, const char* range, double value) {
    if (!good) fail<ValueError>("[ReduceLROnPlateau]", "{} must be {}; got {}", option, range, value);
  };
  require(options_.factor >= 0 && options_.factor < 1, "factor", "from 0 to below 1", options_.factor);
  require(options_.patience >= 0, "patience", "0 or more", options_.patience);
  require(options_.cooldown >= 0, "cooldown", "0 or more", options_.cooldown);
  require(options_.min_lr >= 0, "min_lr", "0 or more", options_.min_lr);
}

void ReduceLROnPlateau::on_train_begin(Logs&) {
  monitor_.resolve(session());
  best_.reset();
  wait_ = cooldown_ = 0;
}

void ReduceLROnPlateau::on_epoch_end(int epoch, Logs& logs) {
  detail::add_learning_rates(session(), logs);
  const auto current = monitor_.value(logs, session());
  if (!current) return;
  if (cooldown_ > 0) {
    --cooldown_;
    wait_ = 0;
  }
  if (monitor_.improves(*current, best_)) {
    best_ = current;
    wait_ = 0;
  } else if (cooldown_ == 0 && ++wait_ >= options_.patience && reduce(epoch)) {
    cooldown_ = options_.cooldown;
    wait_ = 0;
  }
}

bool ReduceLROnPlateau::reduce(int epoch) const {
  bool reduced = false;
  for (const OptimizerConfig& config : session().optimizers()) {
    const double before = config.optimizer->learning_rate();
    if (!(before > static_cast<float>(options_.min_lr))) continue;  // Keras compares in float32
    const double after = std::max(before * options_.factor, options_.min_lr);
    config.optimizer->set_learning_rate(after);
    reduced = true;
    if (options_.verbose > 0) {
      detail::write_line(fmt::format("[ReduceLROnPlateau] epoch {}: learning rate{} {}, before {}", epoch + 1,
                                     detail::named(session(), config), detail::python_text(after),
                                     detail::python_text(before)));
    }
  }
  return reduced;
}

CallbackState ReduceLROnPlateau::state() const {
  CallbackState state{.numbers = {{"wait", wait_}, {"cooldown", cooldown_}}, .tensors = {}, .texts = {}};
  if (best_) state.numbers["best"] = *best_;
  return state;
}

void ReduceLROnPlateau::set_state(const CallbackState& state) {
  wait_ = detail::count_in(state, "wait");
  cooldown_ = detail::count_in(state, "cooldown");
  best_ = detail::number_in(state, "best");
}

LearningRateScheduler::LearningRateScheduler(Rate schedule, const LearningRateSchedulerOptions& options)
    : schedule_(std::move(schedule)), options_(options) {
  if (!schedule_.function) fail<ValueError>("[LearningRateScheduler]", "schedule must be a function; got an empty one");
}

void LearningRateScheduler::on_epoch_begin(int epoch, Logs&) {
  for (const OptimizerConfig& config : session().optimizers()) {
    const double rate = schedule_(epoch, config.optimizer->learning_rate());
    if (!std::isfinite(rate)) {
      fail<ValueError>("[LearningRateScheduler]", "schedule must return a finite number; got {} for epoch {}", rate,
                       epoch);
    }
    config.optimizer->set_learning_rate(rate);
    if (options_.verbose > 0) {
      detail::write_line(fmt::format("[LearningRateScheduler] epoch {}: learning rate{} {}", epoch + 1,
                                     detail::named(session(), config), detail::python_text(rate)));
    }
  }
}

void LearningRateScheduler::on_epoch_end(int, Logs& logs) { detail::add_learning_rates(session(), logs); }

}  // namespace mezzo
