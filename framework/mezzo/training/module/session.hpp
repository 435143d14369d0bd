#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/tensor.hpp>
#include <mezzo/training/module/checkpoint_options.hpp>
#include <mezzo/training/module/history.hpp>
#include <mezzo/training/module/logger.hpp>
#include <mezzo/training/module/optimizer_config.hpp>
#include <mezzo/training/module/stage.hpp>

namespace mezzo {

class Model;
class Module;

/// Weights with a learning rate of their own.
struct ParamGroup {
  std::string optimizer{};          ///< its name in configure_optimizers(); "": the only one
  std::vector<Variable> weights{};  ///< in no other group
  double learning_rate = 0;         ///< at least 0; replaces that of the optimizer
};

/// A running call of fit, evaluate or predict, as its callbacks see it. All functions may be called from every hook of
/// a callback, unless documented otherwise.
class MEZZO_API Session {
 public:
  virtual ~Session() = default;

  virtual Stage stage() const = 0;           ///< kind of call; a validation inside of fit belongs to the call of fit
  virtual bool sanity_checking() const = 0;  ///< true during the validation steps that precede a training

  /// The module that runs.
  virtual Module& module() const = 0;

  /// The same as a Model: model().predict(x), model().evaluate(x, y). They compute with the precision of the running
  /// call. A ValueError if the module is not a Model.
  Model& model() const;

  virtual int epochs() const = 0;          ///< number of the epoch at which fit ends, -1 for no limit; otherwise 1
  virtual std::int64_t steps() const = 0;  ///< batches of an epoch, or of the call; -1: unknown
  virtual int verbose() const = 0;         ///< 0, 1 or 2

  virtual int current_epoch() const = 0;           ///< number of the epoch, as in History; 0 outside of fit
  virtual std::int64_t current_batch() const = 0;  ///< index of the running or last batch of its loop; -1: none yet

  /// Index of the loader of that batch, 0 unless an evaluation has several.
  virtual std::size_t dataloader_idx() const = 0;

  /// Updates since the optimizers began, as in Lightning: steps that were skipped or only accumulated don't count.
  virtual std::int64_t global_step() const = 0;

  /// Duration of the training in seconds, including runs before a resume.
  virtual double seconds() const = 0;

  /// The last numbers that hooks received. In on_train_batch_end these are the means of the epoch so far.
  virtual const Logs& logs() const = 0;

  /// Numbers that are logged with prog_bar: of the running evaluation, else of the epoch so far, with those of its
  /// last validation.
  virtual Logs progress_bar_metrics() const = 0;

  /// Epochs of this fit that have ended.
  virtual const History& history() const = 0;

  /// Sends numbers to the loggers of the Trainer, for the current global_step(). No effect without loggers
  /// and in sanity steps.
  virtual void log_metrics(const Logs& metrics) = 0;
  virtual const Loggers& loggers() const = 0;

  /// Batches whose mean gradient makes one update, from the next batch on: the option accumulate_grad_batches. A
  /// ValueError for a number below 1, outside of fit, and in fit of a Model, whose optimizer has that option.
  virtual void set_accumulate_grad_batches(int batches) = 0;
  virtual int accumulate_grad_batches() const = 0;

  /// Folder for files without a path: the Trainer's default_root_dir; "" is the current one.
  virtual const std::string& default_root_dir() const = 0;

  /// Ends the call after the running batch. In fit, as Keras' `stop_training`, the epoch is validated and its
  /// on_epoch_end hooks run first.
  virtual void stop() = 0;
  virtual bool stopping() const = 0;

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

  /// Layer::save_weights of the module.
  void save_weights(const std::string& path) const;

  /// Trainer::save_checkpoint of the module, in fit. It may be called from every hook: a training that is resumed from
  /// the file takes the next batch and ends bit for bit like this one. The numbers of the running epoch and the states
  /// of the callbacks are saved too.
  virtual void save_checkpoint(const std::string& path, const CheckpointOptions& options = {}) const = 0;

  /// Continues the training of a checkpoint, in on_train_begin of fit only: a ValueError elsewhere. A FileError if the
  /// file is malformed or doesn't fit; nothing has changed then.
  virtual void resume(const std::string& path) = 0;

  /// Outputs of the batch, one tensor for each output of the model, in on_predict_batch_end only: a ValueError
  /// elsewhere.
  virtual const std::vector<Tensor>& outputs() const = 0;

  /// Samples of the running or last batch; 0: none yet.
  virtual std::int64_t batch_size() const = 0;

  /// False if fit validates in the middle of epochs, or not after each one: callbacks then act after validations.
  virtual bool validates_each_epoch() const = 0;
  /// True while no validation of the running epoch has ended in a fit that validates: monitors may lack its numbers.
  virtual bool awaits_validation() const = 0;
  /// True if the loggers receive the numbers of the running or last training step, by log_every_n_steps.
  virtual bool logs_step() const = 0;
  virtual const std::string& ckpt_path() const = 0;  ///< checkpoint that fit resumed from; "": none

  /// Folder of the first logger that has one, else default_root_dir().
  std::string log_dir() const;

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
  Session() = default;
  Session(const Session&) = default;
  Session& operator=(const Session&) = default;

 private:
  const OptimizerConfig& find(const std::string& optimizer) const;
};

}  // namespace mezzo
