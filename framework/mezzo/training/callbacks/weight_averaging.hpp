#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/tensor.hpp>
#include <mezzo/training/callbacks/weight_average.hpp>
#include <mezzo/training/module/callback.hpp>

namespace mezzo {

struct WeightAveragingOptions {
  bool use_buffers = true;  ///< averages moving statistics, too; false: the average has those of the last update
  /// The new average of a number: `[](double average, double weight, std::int64_t num_averaged) { ... }`, where
  /// num_averaged counts the updates before this one. Not given: the mean of all of them.
  std::function<double(double average, double weight, std::int64_t num_averaged)> avg_fn{};
};

/// Keeps averages of a module's weights during fit, as lightning.pytorch.callbacks.WeightAveraging: validation runs
/// with them, and after the training the model has them. The first update takes the weights as they are; before it
/// nothing is replaced. Averages are float32, or float64 for float64 weights. Checkpoints hold the weights and, as
/// state of the callback, the averages, so that a training resumed from them continues as if it had not been
/// interrupted. Override should_update() to choose the updates.
class MEZZO_API WeightAveraging : public Callback {
 public:
  explicit WeightAveraging(WeightAveragingOptions options = {}) : options_(std::move(options)) {}

  /// True if the averages are to be updated: after each step, with its index, and after each epoch, with its number.
  /// Both count from 0. The default updates after each step.
  virtual bool should_update(std::optional<std::int64_t> step_idx, std::optional<int> epoch_idx) const;

  std::int64_t n_averaged() const { return average_.count(); }                ///< updates so far
  const std::vector<Tensor>& averages() const { return average_.numbers(); }  ///< in the order of Module::weights()

  void on_train_begin(Logs& logs) override;
  void on_train_batch_end(std::int64_t batch, Logs& logs) override;
  void on_epoch_end(int epoch, Logs& logs) override;
  void on_train_end(Logs& logs) override;
  /// A ValueError if SwapEMAWeights has replaced the weights.
  void on_test_begin(Logs& logs) override;
  void on_test_end(Logs& logs) override;
  void on_exception(const std::exception& error) override;
  std::string state_name() const override { return "WeightAveraging"; }
  CallbackState state() const override;
  void set_state(const CallbackState& state) override;

 private:
  void update();
  void give_back();

  WeightAveragingOptions options_;
  detail::WeightAverage average_;
  std::int64_t latest_update_step_ = 0;
  bool swapped_ = false;  // true: the model has the averages
};

struct EMAWeightAveragingOptions {
  bool use_buffers = true;                ///< as in WeightAveragingOptions
  double decay = 0.999;                   ///< weight of the old average, in [0, 1]
  std::int64_t update_every_n_steps = 1;  ///< updates after steps with a multiple as index; 0: after none
  std::optional<std::int64_t> update_starting_at_step{};  ///< index of the first step; not given: 0
  std::optional<int> update_starting_at_epoch{};  ///< also updates after epochs from this one on; not given: after none
};

/// Exponential moving averages: average = decay * average + (1 - decay) * weight.
class MEZZO_API EMAWeightAveraging : public WeightAveraging {
 public:
  /// A ValueError for a decay outside of [0, 1] or a negative number of steps.
  explicit EMAWeightAveraging(const EMAWeightAveragingOptions& options = {});

  bool should_update(std::optional<std::int64_t> step_idx, std::optional<int> epoch_idx) const override;

 private:
  EMAWeightAveragingOptions options_;
};

}  // namespace mezzo
