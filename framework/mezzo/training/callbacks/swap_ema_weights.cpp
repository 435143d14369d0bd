#include <mezzo/training/callbacks/swap_ema_weights.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>

namespace mezzo {

void SwapEMAWeights::on_train_begin(Logs&) {
  by_call_ = by_epoch_ = false;
  const OptimizerConfigs& configs = session().optimizers();
  if (std::any_of(configs.begin(), configs.end(), [](const auto& one) { return one.optimizer->common().use_ema; })) {
    return;
  }
  fail<ValueError>("[SwapEMAWeights]", "an optimizer must have use_ema; got {}",
                   configs.empty() ? "none" : configs.front().optimizer->name());
}

void SwapEMAWeights::on_epoch_begin(int, Logs&) {
  if (by_epoch_) swap(false);
  by_epoch_ = false;
}

void SwapEMAWeights::on_epoch_end(int, Logs&) {
  if (options_.swap_on_epoch) by_epoch_ = swap(true);
}

void SwapEMAWeights::on_train_end(Logs&) {
  if (by_epoch_) {
    for (const OptimizerConfig& config : session().optimizers()) config.optimizer->finalize_variable_values();
  }
  by_epoch_ = false;
}

void SwapEMAWeights::on_exception(const std::exception&) {
  if (by_call_ || by_epoch_) swap(false);
  by_call_ = by_epoch_ = false;
}

void SwapEMAWeights::begin() { by_call_ = swap(true); }

void SwapEMAWeights::end() {
  if (by_call_) swap(false);
  by_call_ = false;
}

bool SwapEMAWeights::swap(bool averages) const {
  bool swapped = false;
  for (const OptimizerConfig& config : session().optimizers()) {
    Optimizer& optimizer = *config.optimizer;
    if (!optimizer.common().use_ema || !optimizer.state()->swapped.empty() == averages) continue;
    optimizer.swap_averages();  // no effect before the first update, when there are no averages
    swapped = swapped || !optimizer.state()->swapped.empty() == averages;
  }
  return swapped;
}

}  // namespace mezzo
