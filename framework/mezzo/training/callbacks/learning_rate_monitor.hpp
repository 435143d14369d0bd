#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/training/module/callback.hpp>

namespace mezzo {

struct LearningRateMonitorOptions {
  /// "step": at the steps whose numbers the loggers receive. "epoch": at the start of each epoch. Not given: both; for
  /// an optimizer with an lr_scheduler, at the scheduler's interval.
  std::optional<std::string> logging_interval{};
  bool log_momentum = false;      ///< also `<name>-momentum`: the momentum or beta_1; 0 for optimizers without
  bool log_weight_decay = false;  ///< also `<name>-weight_decay`
  std::string log_key_prefix{};   ///< put before all names
};

/// Sends the learning rates of all optimizers to the loggers of a Trainer. Names are those of Lightning: `lr-Adam`; of
/// more optimizers with that name `lr-Adam-1`, ...; of an optimizer with groups `lr-Adam/pg1` for the variables in no
/// group, then `lr-Adam/pg2`, ... for its groups and those of Session::add_param_group(). The name of an lr_scheduler
/// takes the place of `lr-Adam`.
class MEZZO_API LearningRateMonitor : public Callback {
 public:
  /// A NameError for another logging_interval.
  explicit LearningRateMonitor(LearningRateMonitorOptions options = {});

  /// Learning rates that were logged in the last fit, by name.
  const std::map<std::string, std::vector<double>>& lrs() const { return lrs_; }

  /// A ValueError without a logger.
  void on_train_begin(Logs& logs) override;
  bool on_all_ranks() const override { return false; }
  void on_epoch_begin(int epoch, Logs& logs) override;
  void on_train_batch_begin(std::int64_t batch, Logs& logs) override;

 private:
  void log_rates(const std::string& interval);

  LearningRateMonitorOptions options_;
  std::map<std::string, std::vector<double>> lrs_;
};

}  // namespace mezzo
