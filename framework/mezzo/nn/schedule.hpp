#pragma once
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

#include <mezzo/core/any.hpp>
#include <mezzo/core/api.hpp>
#include <mezzo/core/unmoved.hpp>

namespace mezzo {

/// Base of learning rates that depend on the number of updates made.
class MEZZO_API Schedule : public detail::MoveChecked {
 public:
  /// Learning rate of update `step`, counted from 0.
  virtual double operator()(std::int64_t step) const = 0;
};

namespace detail {
/// A schedule that is a function of the user's program.
class MEZZO_API FunctionSchedule : public Schedule {
 public:
  /// A ValueError if the function is empty.
  explicit FunctionSchedule(std::function<double(std::int64_t)> function);
  double operator()(std::int64_t step) const override;

 private:
  std::function<double(std::int64_t)> function_;
};

/// A constant learning rate, a Schedule, or a function from the number of updates made to the rate:
/// `[](std::int64_t step) { return 0.1 / (1 + step); }`.
class MEZZO_API LearningRate {
 public:
  template <class N, std::enable_if_t<std::is_arithmetic_v<N>, int> = 0>
  LearningRate(N value) : value_(static_cast<double>(value)) {}
  template <class S, std::enable_if_t<std::is_base_of_v<Schedule, S>, int> = 0>
  LearningRate(S schedule) : schedule_(std::move(schedule)), varies_(true) {}
  template <class F, std::enable_if_t<!std::is_base_of_v<Schedule, F> && !std::is_arithmetic_v<F> &&
                                          std::is_invocable_r_v<double, const F&, std::int64_t>,
                                      int> = 0>
  LearningRate(F function) : LearningRate(FunctionSchedule(std::move(function))) {}

  /// The default of an options struct: a constant that an argument may replace.
  static LearningRate preset(double value) {
    LearningRate rate(value);
    rate.preset_ = true;
    return rate;
  }

  /// Learning rate of update `step`, counted from 0.
  double at(std::int64_t step) const;

  /// True for a Schedule or a function.
  bool is_schedule() const { return varies_; }

  /// The schedule; an empty handle for a number.
  const Any<Schedule>& schedule() const { return schedule_; }

  /// Makes a rate of the schedule that a handle holds.
  static LearningRate of(Any<Schedule> schedule) {
    LearningRate rate(0.0);
    rate.schedule_ = std::move(schedule);
    rate.varies_ = static_cast<bool>(rate.schedule_);
    return rate;
  }

  /// True for the default of an options struct.
  bool is_preset() const { return preset_; }

 private:
  double value_ = 0;
  Any<Schedule> schedule_;
  bool varies_ = false;  // also of a rate whose schedule was moved to another one
  bool preset_ = false;
};
}  // namespace detail

}  // namespace mezzo
