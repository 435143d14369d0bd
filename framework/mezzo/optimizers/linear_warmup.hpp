#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/schedule.hpp>

namespace mezzo {

struct LinearWarmupOptions {
  detail::LearningRate after =
      detail::LearningRate::preset(0);  ///< required; rate after the warm-up: a number or a Schedule
  std::int64_t warmup_steps = 0;        ///< required; updates of the warm-up, at least 1
  double initial_learning_rate = 0;     ///< rate of the first update
};

/// A linear warm-up before another schedule, from initial_learning_rate to the first rate of `after`. The schedule
/// `after` starts with its step 0 after the warm-up. Keras has this only for CosineDecay.
class MEZZO_API LinearWarmup : public Schedule {
 public:
  /// A ValueError for warmup_steps below 1, or without `after`.
  explicit LinearWarmup(LinearWarmupOptions options);
  LinearWarmup(detail::LearningRate after, std::int64_t warmup_steps, double initial_learning_rate = 0)
      : LinearWarmup(LinearWarmupOptions{std::move(after), warmup_steps, initial_learning_rate}) {}
  double operator()(std::int64_t step) const override;

  /// Returns the options given to the constructor.
  const LinearWarmupOptions& options() const { return options_; }

 private:
  LinearWarmupOptions options_;
};

}  // namespace mezzo
