#include <mezzo/training/callbacks/early_stopping.hpp>

#include <cmath>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/training/loggers/log_text.hpp>
#include <mezzo/training/loops/texts.hpp>
#include <mezzo/training/step/means.hpp>

namespace mezzo {
namespace {

const char* const weight_key = "best_weights.";

}  // namespace

EarlyStopping::EarlyStopping(EarlyStoppingOptions options)
    : options_(std::move(options)), monitor_("EarlyStopping", options_.monitor, options_.mode, options_.min_delta) {
  if (options_.patience < 0) {
    fail<ValueError>("[EarlyStopping]", "patience must be 0 or more; got {}", options_.patience);
  }
}

void EarlyStopping::on_train_begin(Logs&) {
  monitor_.resolve(session());
  wait_ = stopped_epoch_ = best_epoch_ = 0;
  best_.reset();
  reason_ = EarlyStoppingReason::not_stopped;
  message_.clear();
  best_weights_.clear();
}

void EarlyStopping::keep_weights(int epoch) {
  best_epoch_ = epoch;
  if (!options_.restore_best_weights) return;
  best_weights_.clear();
  session().read_weights([&] {
    for (const Variable& weight : module().weights()) best_weights_.push_back(weight.value());
  });
}

bool EarlyStopping::acts_after_epochs() const {
  return options_.check_on_train_epoch_end.value_or(session().validates_each_epoch());
}

void EarlyStopping::on_epoch_end(int epoch, Logs& logs) {
  if (acts_after_epochs()) check(epoch, logs);
}

void EarlyStopping::on_validation_end(Logs& logs) {
  if (session().stage() == Stage::fit && !session().sanity_checking() && !acts_after_epochs())
    check(session().current_epoch(), logs);
}

void EarlyStopping::stop(int epoch, EarlyStoppingReason reason, const std::string& message) {
  stopped_epoch_ = epoch;
  reason_ = reason;
  message_ = message;
  session().stop();
}

bool EarlyStopping::ends_at_once(double current) {
  const int epoch = session().current_epoch();
  const auto beyond = [&](const char* what, double threshold) {
    return fmt::format("{} is {}, beyond {} {}", monitor_.name(), current, what, threshold);
  };
  if (options_.check_finite && !std::isfinite(current)) {
    stop(epoch, EarlyStoppingReason::non_finite_metric,
         fmt::format("{} must be finite; got {} (best: {})", monitor_.name(), current, best_text()));
  } else if (options_.stopping_threshold && detail::beats(current, *options_.stopping_threshold, monitor_.rises())) {
    stop(epoch, EarlyStoppingReason::stopping_threshold, beyond("stopping_threshold", *options_.stopping_threshold));
  } else if (options_.divergence_threshold && !std::isnan(current) &&
             detail::beats(*options_.divergence_threshold, current, monitor_.rises())) {
    stop(epoch, EarlyStoppingReason::divergence_threshold,
         beyond("divergence_threshold", *options_.divergence_threshold));
  } else {
    return false;
  }
  return true;
}

std::string EarlyStopping::best_text() const { return best_ ? detail::python_text(*best_) : "none"; }

void EarlyStopping::check(int epoch, const Logs& logs) {
  if (epoch < options_.start_from_epoch) return;
  const auto current = monitor_.value(
      logs, session(), options_.strict ? detail::Monitor::Missing::error : detail::Monitor::Missing::warning);
  if (!current) return;
  if (options_.restore_best_weights && best_weights_.empty()) keep_weights(epoch);
  if (ends_at_once(*current)) {
    if (monitor_.improves(*current, best_) && std::isfinite(*current)) {
      best_ = current;
      keep_weights(epoch);
    }
    return;
  }
  ++wait_;
  if (monitor_.improves(*current, best_)) {
    best_ = current;
    keep_weights(epoch);
    if (!options_.baseline || monitor_.improves(*current, options_.baseline)) wait_ = 0;
    return;
  }
  if (wait_ >= options_.patience) {
    stop(epoch, EarlyStoppingReason::patience_exhausted,
         fmt::format("no {} better than {} in {} checks", monitor_.name(), best_text(), wait_));
  }
}

void EarlyStopping::on_train_end(Logs&) {
  const bool tells = options_.verbose > 0;
  if (reason_ != EarlyStoppingReason::not_stopped && tells) {
    detail::write_line(
        fmt::format("[EarlyStopping] ended the training after epoch {}: {}", stopped_epoch_ + 1, message_));
  }
  if (best_weights_.empty()) return;
  if (tells) detail::write_line(fmt::format("[EarlyStopping] the weights are those of epoch {}", best_epoch_ + 1));
  const std::vector<Variable> weights = module().weights();
  for (std::size_t i = 0; i < weights.size() && i < best_weights_.size(); ++i) weights[i].assign(best_weights_[i]);
}

CallbackState EarlyStopping::state() const {
  CallbackState state;
  state.numbers = {{"wait", wait_}, {"stopped_epoch", stopped_epoch_}, {"best_epoch", best_epoch_}};
  if (best_) state.numbers["best"] = *best_;
  state.numbers["stopping_reason"] = static_cast<double>(reason_);
  if (!message_.empty()) state.texts["stopping_reason_message"] = message_;
  for (std::size_t i = 0; i < best_weights_.size(); ++i) {
    state.tensors[weight_key + std::to_string(i)] = best_weights_[i];
  }
  return state;
}

void EarlyStopping::set_state(const CallbackState& state) {
  wait_ = detail::count_in(state, "wait");
  stopped_epoch_ = detail::count_in(state, "stopped_epoch");
  best_epoch_ = detail::count_in(state, "best_epoch");
  best_ = detail::number_in(state, "best");
  const int reason = detail::count_in(state, "stopping_reason");
  constexpr int last = static_cast<int>(EarlyStoppingReason::non_finite_metric);
  reason_ = reason <= last ? static_cast<EarlyStoppingReason>(reason) : EarlyStoppingReason::not_stopped;
  const auto message = state.texts.find("stopping_reason_message");
  message_ = message == state.texts.end() ? std::string() : message->second;
  best_weights_.clear();
  const std::vector<Variable> weights = module().weights();
  for (std::size_t i = 0; options_.restore_best_weights && i < weights.size(); ++i) {
    const auto found = state.tensors.find(weight_key + std::to_string(i));
    if (found == state.tensors.end() || found->second.shape() != weights[i].shape()) break;
    best_weights_.push_back(found->second);
  }
  if (best_weights_.size() != weights.size()) best_weights_.clear();
}

}  // namespace mezzo
