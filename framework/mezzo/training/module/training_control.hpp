#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/training/module/checkpoint_options.hpp>
#include <mezzo/training/module/optimizer_config.hpp>
#include <mezzo/training/module/param_group.hpp>

namespace mezzo {

namespace detail {

/// Control of a running training: its end, optimizers, weights and checkpoints. Every hook of fit may use it.
class MEZZO_API TrainingControl {
 public:
  virtual ~TrainingControl() = default;

  /// Ends the call after the running batch. In fit, as Keras' `stop_training`, the epoch is validated and its
  /// on_epoch_end hooks run first.
  virtual void stop() = 0;
  virtual bool stopping() const = 0;

  /// Leaves out the training step of the running batch. Batches are counted, hooks of its end run without numbers, and
  /// no weight or state changes; a window of accumulated gradients has one batch less. To be called in
  /// on_train_batch_begin: a ValueError elsewhere. With several ranks the batch is left out if one rank calls it.
  virtual void skip_batch() = 0;

  /// Leaves out the running batch and the rest of the epoch, as -1 from Lightning's on_train_batch_start. The
  /// validation at the end of the epoch and the hooks of its end run. Otherwise as skip_batch().
  virtual void skip_epoch() = 0;

  /// Batches whose mean gradient makes one update, from the next batch on: the option accumulate_grad_batches. A
  /// ValueError for a number below 1, outside of fit, and in fit of a Model, whose optimizer has that option.
  virtual void set_accumulate_grad_batches(int batches) = 0;
  virtual int accumulate_grad_batches() const = 0;

  /// Optimizers of the module: `optimizers()[0].optimizer->learning_rate()`. Empty before it has been trained.
  virtual const OptimizerConfigs& optimizers() const = 0;

  /// Learning rate of the next update. `optimizer` is the name in configure_optimizers(); "": the only one. A
  /// ValueError if there are none or several, a NameError for an unknown name.
  double learning_rate(const std::string& optimizer = {}) const;

  /// Sets that learning rate. A ValueError if it is negative or not finite, or if the optimizer has a Schedule.
  void set_learning_rate(double rate, const std::string& optimizer = {}) const;

  /// Sets a separate learning rate for weights from the next step on, in fit, and adds the weights to the optimizer if
  /// it does not have them yet. Returns the index in param_groups(). The next fit begins without groups. A ValueError
  /// outside of fit, for no weights, a weight that is in a group, or a rate that is negative or not finite; a NameError
  /// for an unknown optimizer.
  virtual std::size_t add_param_group(ParamGroup group) = 0;
  virtual const std::vector<ParamGroup>& param_groups() const = 0;
  /// Sets the learning rate of a group from the next step on. A ValueError for an unknown index or such a rate.
  virtual void set_param_group_learning_rate(std::size_t index, double rate) = 0;

  /// Calls `read`, which may read the numbers of all weights: with shard_optimizer_states a rank has only halves of
  /// some between steps. Callbacks that run at all ranks must call it at all of them.
  virtual void read_weights(const std::function<void()>& read) const = 0;

  /// Trainer::save_checkpoint of the module, in fit. It may be called from every hook: a training that is resumed from
  /// the file takes the next batch and ends bit for bit like this one. The numbers of the running epoch and the states
  /// of the callbacks are saved too.
  virtual void save_checkpoint(const std::string& path, const CheckpointOptions& options = {}) const = 0;

 protected:
  TrainingControl() = default;
  TrainingControl(const TrainingControl&) = default;
  TrainingControl& operator=(const TrainingControl&) = default;

 private:
  const OptimizerConfig& find(const std::string& optimizer) const;
};

}  // namespace detail
}  // namespace mezzo
