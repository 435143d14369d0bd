#include <mezzo/training/callbacks/learning_rate_monitor.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/model/model_config.hpp>

namespace mezzo {
namespace {

const char* const rate_monitor_label = "[LearningRateMonitor]";

/// The option `momentum` of an optimizer, else `beta_1`, else 0.
double momentum_of(const Any<Optimizer>& optimizer) {
  if (!optimizer->made_of().has_value()) return 0;  // a class of the user without described options
  const detail::Json config = detail::write_object(optimizer);
  const auto options = config.find("config");
  if (options == config.end()) return 0;
  for (const char* name : {"momentum", "beta_1"}) {
    const auto found = options->find(name);
    if (found != options->end()) return detail::read_double(*found, rate_monitor_label);
  }
  return 0;
}

}  // namespace

LearningRateMonitor::LearningRateMonitor(LearningRateMonitorOptions options) : options_(std::move(options)) {
  const std::string interval = options_.logging_interval.value_or("step");
  if (interval != "step" && interval != "epoch") {
    fail_unknown(rate_monitor_label, "logging_interval", interval, {"step", "epoch"});
  }
}

void LearningRateMonitor::on_train_begin(Logs&) {
  lrs_.clear();
  if (session().loggers().empty()) {
    fail<ValueError>(rate_monitor_label, "a Trainer with a logger must run the training; got one without");
  }
}

void LearningRateMonitor::on_epoch_begin(int, Logs&) {
  if (options_.logging_interval != "step") log_rates("epoch");
}

void LearningRateMonitor::on_train_batch_begin(std::int64_t, Logs&) {
  if (options_.logging_interval != "epoch" && session().logs_step()) log_rates("step");
}

void LearningRateMonitor::log_rates(const std::string& interval) {
  Logs logs;
  std::map<std::string, int> seen;
  for (const OptimizerConfig& config : session().optimizers()) {
    const Optimizer& optimizer = *config.optimizer;
    const std::vector<ParameterGroup>& groups = optimizer.common().groups;
    const detail::LRSchedulers& schedulers = config.lr_scheduler;
    const auto named =
        std::find_if(schedulers.begin(), schedulers.end(), [](const auto& one) { return !one.name.empty(); });
    const std::string base = named != schedulers.end() ? named->name : "lr-" + optimizer.name();
    std::string name = options_.log_key_prefix + base;
    if (const int before = seen[base]++; before > 0) name += fmt::format("-{}", before);
    const bool steps_then =
        std::any_of(schedulers.begin(), schedulers.end(), [&](const auto& one) { return one.interval == interval; });
    if (!schedulers.empty() && !options_.logging_interval && !steps_then) continue;
    const double momentum = options_.log_momentum ? momentum_of(config.optimizer) : 0;
    std::vector<double> own;  // rates of groups that callbacks have added
    for (const ParamGroup& group : session().param_groups()) {
      if (group.optimizer.empty() || group.optimizer == config.name) own.push_back(group.learning_rate);
    }
    const auto add = [&](const std::string& key, double rate, double decay) {
      logs.set(key, rate);
      lrs_[key].push_back(rate);
      if (options_.log_momentum) logs.set(key + "-momentum", momentum);
      if (options_.log_weight_decay) logs.set(key + "-weight_decay", decay);
    };
    const double rate = optimizer.learning_rate(), decay = optimizer.common().weight_decay;
    add(groups.empty() && own.empty() ? name : name + "/pg1", rate, decay);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      add(fmt::format("{}/pg{}", name, i + 2), groups[i].learning_rate_factor * rate,
          groups[i].weight_decay.value_or(decay));
    }
    for (std::size_t i = 0; i < own.size(); ++i) {
      add(fmt::format("{}/pg{}", name, groups.size() + i + 2), own[i], decay);
    }
  }
  if (!logs.empty()) session().log_metrics(logs);
}

}  // namespace mezzo
