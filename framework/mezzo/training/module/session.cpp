#include <mezzo/training/module/session.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/module/module.hpp>

namespace mezzo {

Model& Session::model() const {
  Model* const model = module().as_model();
  if (model == nullptr) {
    fail<ValueError>("[Callback]", "model(): the module must be a Model; got another Module, which module() returns");
  }
  return *model;
}

const OptimizerConfig& Session::find(const std::string& optimizer) const {
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

double Session::learning_rate(const std::string& optimizer) const { return find(optimizer).optimizer->learning_rate(); }

void Session::set_learning_rate(double rate, const std::string& optimizer) const {
  find(optimizer).optimizer->set_learning_rate(rate);
}

void Session::save_weights(const std::string& path) const { module().save_weights(path); }

std::string Session::log_dir() const {
  for (const Any<Logger>& logger : loggers()) {
    if (const std::string folder = logger->log_dir(); !folder.empty()) return folder;
  }
  return default_root_dir();
}

}  // namespace mezzo
