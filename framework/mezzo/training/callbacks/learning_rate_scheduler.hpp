#pragma once
#include <functional>
#include <type_traits>
#include <utility>

#include <mezzo/core/api.hpp>
#include <mezzo/training/module/callback.hpp>

namespace mezzo {

struct LearningRateSchedulerOptions {
  int verbose = 0;  ///< 1: prints the rate of each epoch
};

/// Sets the learning rate of all optimizers at the start of each epoch. `schedule` is a function of the epoch, counted
/// from 0, or of the epoch and the current rate:
///
///     LearningRateScheduler([](int epoch, double rate) { return epoch < 10 ? rate : 0.9 * rate; })
///
/// Adds `learning_rate` to the logs of epochs, with several optimizers `learning_rate_<name>`. A ValueError in fit for
/// a rate that is negative or not finite, or if an optimizer has a Schedule.
class MEZZO_API LearningRateScheduler : public Callback {
 public:
  /// `schedule(epoch, rate)` or `schedule(epoch)` returns the rate of the epoch; epochs count from 0.
  template <class F, class = std::enable_if_t<std::is_invocable_r_v<double, const F&, int, double> ||
                                              std::is_invocable_r_v<double, const F&, int>>>
  explicit LearningRateScheduler(F schedule, const LearningRateSchedulerOptions& options = {})
      : LearningRateScheduler(rate_of(std::move(schedule)), options) {}

  void on_epoch_begin(int epoch, Logs& logs) override;
  void on_epoch_end(int epoch, Logs& logs) override;

 private:
  struct Rate {
    std::function<double(int, double)> function;
    double operator()(int epoch, double rate) const { return function(epoch, rate); }
  };

  template <class F>
  static Rate rate_of(F schedule) {
    if constexpr (std::is_invocable_r_v<double, const F&, int, double>) {
      return {std::move(schedule)};
    } else {
      return {[schedule = std::move(schedule)](int epoch, double) -> double { return schedule(epoch); }};
    }
  }

  LearningRateScheduler(Rate schedule, const LearningRateSchedulerOptions& options);

  Rate schedule_;
  LearningRateSchedulerOptions options_;
};

}  // namespace mezzo
