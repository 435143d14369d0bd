#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include <mezzo/core/api.hpp>

namespace mezzo {

namespace detail {

/// Changes before a training and trials in it. Each function says in which hooks of fit it may be called.
class MEZZO_API TrainingTrials {
 public:
  virtual ~TrainingTrials() = default;

  /// Continues the training of a checkpoint, in on_train_begin of fit only: a ValueError elsewhere. A FileError if the
  /// file is malformed or doesn't fit; nothing has changed then.
  virtual void resume(const std::string& path) = 0;

  /// Runs trial steps during fit: at most `steps` steps (-1: a pass) on the first batches of the training data, with
  /// optimizers that begin without state. `before` runs before a step, `after` after it with its loss (NaN if it was
  /// skipped or not finite); steps are counted from 0. The trial ends if `after` returns false, or after a step that
  /// was not finite. Everything is restored at the end, bit for bit: weights, optimizers, metrics, counters. A
  /// ValueError outside of fit.
  virtual void try_steps(std::int64_t steps, const std::function<void(std::int64_t step)>& before,
                         const std::function<bool(std::int64_t step, double loss)>& after) = 0;

  /// Samples of an epoch of the training loader. A ValueError outside of fit, and for a loader without a size.
  virtual std::int64_t train_samples() const = 0;

  /// Runs trial steps as try_steps(), on batches of that many samples. False if memory is insufficient, or if the plan
  /// of a step needs more than `memory_limit` bytes for intermediate results.
  virtual bool try_batch_size(std::int64_t batch_size, std::int64_t steps, std::int64_t memory_limit) = 0;

  /// Sets the samples of a training batch for this fit, in on_fit_start and on_resume only: a ValueError elsewhere.
  /// Errors are those of DataLoader::with_batch_size.
  virtual void set_batch_size(std::int64_t batch_size) = 0;

 protected:
  TrainingTrials() = default;
  TrainingTrials(const TrainingTrials&) = default;
  TrainingTrials& operator=(const TrainingTrials&) = default;
};

}  // namespace detail
}  // namespace mezzo
