#include <mezzo/nn/schedule.hpp>

#include <mezzo/core/fail.hpp>

namespace mezzo {

detail::FunctionSchedule::FunctionSchedule(std::function<double(std::int64_t)> function)
    : function_(std::move(function)) {
  if (!function_) fail<ValueError>("[FunctionSchedule]", "function must be given; got an empty one");
}

double detail::FunctionSchedule::operator()(std::int64_t step) const {
  check_not_moved();
  return function_(step);
}

double detail::LearningRate::at(std::int64_t step) const {
  if (!varies_) return value_;
  if (!schedule_) detail::fail_moved(typeid(detail::LearningRate));
  schedule_->check_not_moved();
  return (*schedule_)(step);
}

}  // namespace mezzo
