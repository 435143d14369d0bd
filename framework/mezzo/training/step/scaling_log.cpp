#include <mezzo/training/step/scaling_log.hpp>

namespace mezzo::detail {

ScalingLog::ScalingLog(const StepRunner& runner) : runner_(runner) {
  for (const OptimizerConfig& config : runner.optimizers()) {
    skipped_.push_back(config.optimizer->state()->loss_scale.skipped());
  }
  add_names();
}

void ScalingLog::add_names() {
  const OptimizerConfigs& all = runner_.optimizers();
  for (const OptimizerConfig& config : all) {
    const std::string suffix = all.size() > 1 ? "_" + config.name : "";
    names_.push_back({"loss_scale" + suffix, "skipped_steps" + suffix});
  }
}

std::vector<std::pair<std::string, double>> ScalingLog::numbers() const {
  std::vector<std::pair<std::string, double>> out;
  const OptimizerConfigs& all = runner_.optimizers();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!runner_.record().scaled(i)) continue;
    const LossScale& scale = all[i].optimizer->state()->loss_scale;
    out.emplace_back(names_[i].scale, scale.scale());
    out.emplace_back(names_[i].skipped, static_cast<double>(scale.skipped() - skipped_[i]));
  }
  return out;
}

void ScalingLog::write(Logs& logs, const Means& logged) const {
  const OptimizerConfigs& all = runner_.optimizers();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!runner_.record().scaled(i)) continue;
    const LossScale& scale = all[i].optimizer->state()->loss_scale;
    if (!logged.has(names_[i].scale)) logs.set(names_[i].scale, scale.scale());
    if (logged.has(names_[i].skipped)) continue;
    logs.set(names_[i].skipped, static_cast<double>(scale.skipped() - skipped_[i]));
  }
}

}  // namespace mezzo::detail
