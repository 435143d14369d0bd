#pragma once
#include <cstdint>
#include <vector>

#include <mezzo/training/module/callback.hpp>

namespace mezzo::detail {

struct Optimizing;

/// Throws a ValueError for an lr_scheduler out of its range, or of an optimizer with a Schedule of its own.
void check_scheduler(const OptimizerConfig& config);

/// Steps the schedulers of a fit, as its first callback. Those of schedules step before other hooks see the end of the
/// batch. A Plateau by steps waits until a validation that follows the batch is over.
class SchedulerSteps : public Callback {
 public:
  void on_train_begin(Logs& logs) override;
  void on_train_batch_begin(std::int64_t batch, Logs& logs) override;
  void on_train_batch_end(std::int64_t batch, Logs& logs) override;
  void on_validation_end(Logs& logs) override;
  void on_epoch_end(int epoch, Logs& logs) override;

 private:
  Optimizing& optimizing() const;
  void step_waiting() const;

  std::vector<std::int64_t> iterations_;  // by optimizer, before the batch
};

/// Steps each Plateau by epochs, after the hooks of all callbacks that save no checkpoints: these may log its number.
class PlateauSteps : public Callback {
 public:
  bool saves() const override { return true; }  // its place, before those that save
  bool on_all_ranks() const override { return true; }
  void on_epoch_end(int epoch, Logs& logs) override;
};

}  // namespace mezzo::detail
