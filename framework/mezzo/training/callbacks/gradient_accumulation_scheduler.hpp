#pragma once
#include <map>

#include <mezzo/core/api.hpp>
#include <mezzo/training/module/callback.hpp>

namespace mezzo {

struct GradientAccumulationSchedulerOptions {
  /// Required; batches per update by the epoch from which they hold, counted from 0. Before the first one it is 1.
  std::map<int, int> scheduling{};
};

/// Changes the number of batches whose gradients are added up for an update at the start of epochs:
/// `GradientAccumulationScheduler({.scheduling = {{0, 8}, {4, 4}, {8, 1}}})`.
class MEZZO_API GradientAccumulationScheduler : public Callback {
 public:
  /// A ValueError for no entries, a negative epoch, or a number below 1.
  explicit GradientAccumulationScheduler(GradientAccumulationSchedulerOptions options);

  /// The number of that epoch.
  int accumulate_grad_batches(int epoch) const;

  /// A ValueError if the Trainer accumulates by itself.
  void on_train_begin(Logs& logs) override;
  void on_epoch_begin(int epoch, Logs& logs) override;

 private:
  std::map<int, int> scheduling_;
};

}  // namespace mezzo
