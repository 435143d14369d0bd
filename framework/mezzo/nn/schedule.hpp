#pragma once
#include <cstdint>
#include <type_traits>
#include <utility>

#include <mezzo/core/any.hpp>
#include <mezzo/core/api.hpp>

namespace mezzo {

/// Base of learning rates that depend on the number of updates made.
class MEZZO_API Schedule {
 public:
  virtual ~Schedule() = default;

  /// Learning rate of update `step`, counted from 0.
  virtual double operator()(std::int64_t step) const = 0;
};

/// A constant learning rate or a Schedule.
class MEZZO_API LearningRate {
 public:
  template <class N, class = std::enable_if_t<std::is_arithmetic_v<N>>>
  LearningRate(N value) : value_(static_cast<double>(value)) {}
  template <class S, class = std::enable_if_t<std::is_base_of_v<Schedule, S>>, class = void>
  LearningRate(S schedule) : schedule_(std::move(schedule)) {}

  /// Learning rate of update `step`, counted from 0.
  double at(std::int64_t step) const { return schedule_ ? (*schedule_)(step) : value_; }

  /// True for a Schedule or a function.
  bool is_schedule() const { return static_cast<bool>(schedule_); }

 private:
  double value_ = 0;
  Any<Schedule> schedule_;
};

}  // namespace mezzo
