#include <mezzo/training/module/training_control.hpp>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {

const OptimizerConfig& TrainingControl::find(const std::string& optimizer) const {
  const OptimizerConfigs& all = optimizers();
  if (optimizer.empty()) {
    if (all.size() == 1) return all.front();
    fail<ValueError>("[Callback]", "learning rate: without a name the module must have one optimizer; got {}",
                     all.size());
  }
  std::vector<std::string> names;
  for (const OptimizerConfig& config : all) {
    if (config.name == optimizer) return config;
    names.push_back(config.name);
  }
  fail_unknown("[Callback]", "optimizer", optimizer, names);
}

double TrainingControl::learning_rate(const std::string& optimizer) const {
  return find(optimizer).optimizer->learning_rate();
}

void TrainingControl::set_learning_rate(double rate, const std::string& optimizer) const {
  find(optimizer).optimizer->set_learning_rate(rate);
}

}  // namespace mezzo::detail
