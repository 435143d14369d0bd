#include <mezzo/training/loops/fit_limits.hpp>

#include <algorithm>
#include <limits>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/loops/call_batches.hpp>

namespace mezzo::detail {
namespace {

std::int64_t batches_of_epoch(const DataLoader& train, const FitSettings& settings) {
  if (settings.train_limit) return batches_of(train, *settings.train_limit, "limit_train_batches");
  if (settings.steps_per_epoch && *settings.steps_per_epoch < 1) {
    fail<ValueError>("[Trainer]", "steps_per_epoch must be at least 1; got {}", *settings.steps_per_epoch);
  }
  if (settings.steps_per_epoch) return *settings.steps_per_epoch;
  return train.sized() ? train.size() : all_batches;
}

std::int64_t batches_of_validation(const DataLoader& validation, const FitSettings& settings) {
  if (validation.empty()) return 0;
  if (settings.validation_limit) return batches_of(validation, *settings.validation_limit, "limit_val_batches");
  return limited_steps(validation, settings.validation_steps, "validation_steps");
}

}  // namespace

FitLimits::FitLimits(const DataLoader& train, const DataLoaders& validation_loaders, const FitSettings& settings)
    : epoch(batches_of_epoch(train, settings)),
      whole_passes(settings.train_limit.has_value() || epoch == all_batches),
      check_seconds(settings.val_check_interval.seconds()) {
  for (const DataLoader& loader : validation_loaders) {
    const std::int64_t batches = batches_of_validation(loader, settings);
    validations.push_back(batches);
    sanities.push_back(settings.sanity_steps < 0 ? batches : std::min<std::int64_t>(settings.sanity_steps, batches));
  }
  validation = sum_of(validations);
  sanity = sum_of(sanities);
  const CheckInterval& interval = settings.val_check_interval;
  if (epoch == 0 || validation == 0 || check_seconds > 0) return;
  check_every = epoch == all_batches ? interval.batches_unsized() : interval.batches(epoch);
  if (check_every > epoch && !settings.checks_across_epochs) {
    fail<ValueError>("[Trainer]", "val_check_interval must be at most the {} batches of an epoch; got {}", epoch,
                     check_every);
  }
}

std::int64_t FitLimits::planned_steps(const FitSettings& settings) const {
  constexpr auto unlimited = std::numeric_limits<std::int64_t>::max();
  if (epoch == 0) return 0;
  const std::int64_t epochs = std::max(0, settings.epochs - settings.initial_epoch);
  const std::int64_t by_epochs = settings.epochs < 0 || epochs > unlimited / epoch ? unlimited : epochs * epoch;
  return settings.max_steps < 0 ? by_epochs : std::min(by_epochs, settings.max_steps);
}

}  // namespace mezzo::detail
