#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/training/module/callback.hpp>

namespace mezzo {

struct LearningRateFinderOptions {
  double min_lr = 1e-8;              ///< first rate, above 0
  double max_lr = 1;                 ///< last rate, above min_lr
  int num_training_steps = 100;      ///< rates, at least 2
  std::string mode = "exponential";  ///< "exponential" or "linear" steps from min_lr to max_lr
  /// Ends the search once the smoothed loss is above this many times the least one; std::nullopt: it doesn't end.
  std::optional<double> early_stop_threshold = 4.0;
  bool update_attr = true;  ///< sets the suggestion as learning rate of the optimizer
};

/// Tries learning rates before the training, as lightning.pytorch.callbacks.LearningRateFinder: one step with each of
/// num_training_steps rates, on the first batches of the data, with an optimizer that begins without state. Afterwards
/// weights, optimizer and counters are as before, bit for bit, except for the learning rate. The module must have one
/// optimizer, whose learning rate is not a Schedule: a ValueError otherwise.
///
/// To search again at other epochs, call lr_find() in an override of on_epoch_begin().
class MEZZO_API LearningRateFinder : public Callback {
 public:
  /// A ValueError for a number out of its range, a NameError for an unknown mode.
  explicit LearningRateFinder(LearningRateFinderOptions options = {});

  void on_fit_start() override { lr_find(); }

  /// Runs the search, in a hook of fit.
  void lr_find();

  const std::vector<double>& lrs() const { return lrs_; }        ///< rates of the last search
  const std::vector<double>& losses() const { return losses_; }  ///< smoothed losses of its steps

  /// The rate at which the smoothed loss falls most steeply, by central differences over the rates. The first
  /// `skip_begin` and last `skip_end` steps and losses that are not finite are left out. None if fewer than two remain.
  std::optional<double> suggestion(int skip_begin = 10, int skip_end = 1) const;

 private:
  double rate_of(std::int64_t step) const;

  LearningRateFinderOptions options_;
  std::vector<double> lrs_, losses_;
};

}  // namespace mezzo
