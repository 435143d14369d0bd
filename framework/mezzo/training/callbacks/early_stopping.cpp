#include <mezzo/training/callbacks/early_stopping.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/training/callbacks/texts.hpp>

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
  monitor_.resolve();
  wait_ = stopped_epoch_ = best_epoch_ = 0;
  best_.reset();
  best_weights_.clear();
}

void EarlyStopping::keep_weights(int epoch) {
  best_epoch_ = epoch;
  if (!options_.restore_best_weights) return;
  best_weights_.clear();
  for (const Variable& weight : module().weights()) best_weights_.push_back(weight.value());
}

void EarlyStopping::on_epoch_end(int epoch, Logs& logs) {
  const auto current = monitor_.value(
      logs, fmt::format("Early stopping conditioned on metric `{}` which is not available.", monitor_.name()));
  if (!current || epoch < options_.start_from_epoch) return;
  if (options_.restore_best_weights && best_weights_.empty()) keep_weights(epoch);
  ++wait_;
  if (monitor_.improves(*current, best_)) {
    best_ = current;
    keep_weights(epoch);
    if (!options_.baseline || monitor_.improves(*current, options_.baseline)) wait_ = 0;
    return;
  }
  if (wait_ >= options_.patience && epoch > 0) {
    stopped_epoch_ = epoch;
    session().stop();
  }
}

void EarlyStopping::on_train_end(Logs&) {
  const bool tells = options_.verbose > 0;
  if (stopped_epoch_ > 0 && tells) write_line(fmt::format("Epoch {}: early stopping", stopped_epoch_ + 1));
  if (best_weights_.empty()) return;
  if (tells) {
    write_line(fmt::format("Restoring model weights from the end of the best epoch: {}.", best_epoch_ + 1));
  }
  const std::vector<Variable> weights = module().weights();
  for (std::size_t i = 0; i < weights.size() && i < best_weights_.size(); ++i) weights[i].assign(best_weights_[i]);
}

CallbackState EarlyStopping::state() const {
  CallbackState state;
  state.numbers = {{"wait", wait_}, {"stopped_epoch", stopped_epoch_}, {"best_epoch", best_epoch_}};
  if (best_) state.numbers["best"] = *best_;
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
