#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <variant>

#include <mezzo/core/api.hpp>
#include <mezzo/training/callbacks/weight_average.hpp>
#include <mezzo/training/module/callback.hpp>

namespace mezzo {

struct StochasticWeightAveragingOptions {
  double swa_lrs = 0;  ///< required; learning rate while weights are averaged, above 0
  /// First epoch at whose beginning weights are averaged, counted from 1; or a share of all epochs, in [0, 1].
  std::variant<int, double> swa_epoch_start = 0.8;
  int annealing_epochs = 10;               ///< epochs from the old learning rate to swa_lrs, 0 or more
  std::string annealing_strategy = "cos";  ///< "cos" or "linear"
  /// The new average of a number, as in WeightAveragingOptions; not given: the mean.
  std::function<double(double average, double weight, std::int64_t num_averaged)> avg_fn{};
};

/// Stochastic weight averaging (Izmailov et al., 2018), as lightning.pytorch.callbacks.StochasticWeightAveraging: from
/// an epoch on the learning rate approaches swa_lrs, and at the beginning of each epoch the weights are averaged. After
/// the last epoch the model has the averages, and the moving statistics of batch normalization are then computed again,
/// as means over the batches of an epoch. A training that stops early keeps its weights. The module must have one
/// optimizer, whose learning rate is not a Schedule: a ValueError in fit otherwise.
class MEZZO_API StochasticWeightAveraging : public Callback {
 public:
  /// A ValueError for a number out of its range, a NameError for an unknown strategy.
  explicit StochasticWeightAveraging(StochasticWeightAveragingOptions options);

  std::int64_t n_averaged() const { return average_.count(); }  ///< updates so far

  void on_train_begin(Logs& logs) override;
  void on_epoch_begin(int epoch, Logs& logs) override;
  void on_train_end(Logs& logs) override;
  std::string state_name() const override { return "StochasticWeightAveraging"; }
  CallbackState state() const override;
  void set_state(const CallbackState& state) override;

 private:
  double rate_after(int epochs) const;
  void renew_statistics();

  StochasticWeightAveragingOptions options_;
  detail::WeightAverage average_;
  int start_ = 0;          // first epoch, from 0
  int last_epoch_ = -1;    // whose beginning was averaged
  double first_rate_ = 0;  // learning rate before the annealing
};

}  // namespace mezzo
