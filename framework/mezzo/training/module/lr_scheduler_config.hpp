#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <mezzo/nn/schedule.hpp>
#include <mezzo/training/module/plateau.hpp>

namespace mezzo {

/// Scheduler of an optimizer's learning rate with the times of its steps, as Lightning's lr_scheduler_config:
/// `.lr_scheduler = {{.scheduler = ExponentialDecay({.decay_steps = 1}), .interval = "epoch"}}`.
struct LRSchedulerConfig {
  /// Required. A Schedule or function returns the learning rate for the number of the scheduler's step, counted from 0.
  /// A Plateau changes the optimizer's rate.
  std::variant<detail::LearningRate, Plateau> scheduler = detail::LearningRate(0.0);
  /// "epoch": steps at the end of complete epochs, before their validation. "step": steps after batches in which the
  /// optimizer has updated weights, once a batch. A Plateau steps after the validation that is due there.
  std::string interval = "epoch";
  /// Steps only after every n epochs, or every n batches of an epoch; 1 or more.
  int frequency = 1;
  std::string monitor{};  ///< required for a Plateau: name of the number in the logs of epochs, "val_loss"
  bool strict = true;     ///< true: a ValueError if that number does not exist yet; false: a warning
  std::string name{};     ///< name in the logs of LearningRateMonitor; "": "lr-" and the name of the optimizer
  /// Steps of the scheduler after which the next one of a list takes over; required for all but the last. -1: no end.
  std::int64_t steps = -1;
};

namespace detail {
/// Type of the option lr_scheduler: none, a scheduler, or a list of schedulers that follow one another, as torch's
/// SequentialLR.
class LRSchedulers {
 public:
  LRSchedulers() = default;
  LRSchedulers(LRSchedulerConfig one) : list_{std::move(one)} {}
  LRSchedulers(std::initializer_list<LRSchedulerConfig> list) : list_(list) {}
  LRSchedulers(std::vector<LRSchedulerConfig> list) : list_(std::move(list)) {}

  bool empty() const { return list_.empty(); }
  std::size_t size() const { return list_.size(); }
  const LRSchedulerConfig& operator[](std::size_t i) const { return list_[i]; }
  std::vector<LRSchedulerConfig>::const_iterator begin() const { return list_.begin(); }
  std::vector<LRSchedulerConfig>::const_iterator end() const { return list_.end(); }

 private:
  std::vector<LRSchedulerConfig> list_;
};
}  // namespace detail

}  // namespace mezzo
