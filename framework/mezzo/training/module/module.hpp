#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/gradient.hpp>
#include <mezzo/nn/layer.hpp>
#include <mezzo/nn/metric.hpp>
#include <mezzo/nn/optimizer.hpp>
#include <mezzo/training/module/batch.hpp>
#include <mezzo/training/module/callback_state.hpp>
#include <mezzo/training/module/history.hpp>
#include <mezzo/training/module/hyperparameters.hpp>
#include <mezzo/training/module/log_options.hpp>
#include <mezzo/training/module/logs.hpp>
#include <mezzo/training/module/optimizer_config.hpp>
#include <mezzo/training/module/optimizer_handle.hpp>
#include <mezzo/training/module/run_state.hpp>

namespace mezzo {

namespace detail {
class CallbackHandle;
struct FieldNames {
  std::vector<std::string> inputs{}, outputs{};
};
}  // namespace detail
struct HostBatch;
class Model;

/// A layer with its training steps, as in Lightning: the module defines one step, a Trainer runs the loops. A step is
/// traced once per shape of the batch, so it must not depend on state of its own in C++.
class MEZZO_API Module : public Layer {
 public:
  /// The outputs have the masks of the layers inside.
  bool supports_masking() const override { return true; }
  Values compute_mask(const Values&, const Values&) const override { return {}; }

  /// Loss of a batch: one number, or one per sample; their mean is minimized. A step that calls minimize() itself
  /// returns the value to report. {}: batches of that shape update nothing and have no "loss". The default is a
  /// ValueError.
  virtual Value training_step(const Batch& batch);

  /// Logs the metrics of a validation batch. The default is a ValueError.
  virtual void validation_step(const Batch& batch);

  /// Logs the metrics of a test batch. The default is validation_step().
  virtual void test_step(const Batch& batch) { validation_step(batch); }

  /// Output of Trainer::predict for a batch. The default calls the module on the input fields and returns its output.
  /// With several outputs it returns the first one, and a step of your own must return that one unchanged.
  virtual Value predict_step(const Batch& batch);

  /// Optimizers that train the module. Each must have a state of its own.
  virtual OptimizerConfigs configure_optimizers();

  /// Callbacks of this module, called after those of the Trainer in all calls. One of the same class as a callback of
  /// the Trainer replaces it.
  virtual std::vector<detail::CallbackHandle> configure_callbacks();

  /// @name Hooks
  /// A Trainer, and Model::fit, evaluate and predict, call them between steps, after the hooks of callbacks and before
  /// those of callbacks that save. Names and order are Lightning's. They may use the module as callbacks may: read and
  /// replace weights, predict, save. log() sends numbers of their own to the logs of the epoch or evaluation, in hooks
  /// from on_train_epoch_start to on_train_epoch_end, and in those of an evaluation up to its on_..._epoch_end; the
  /// last number of a name is kept. `stage` is "fit", "validate", "test" or "predict"; `batch_idx` counts from 0 in
  /// each epoch. In an evaluation with several loaders it counts in each loader, and dataloader_idx() is the index of
  /// the loader.
  /// @{
  virtual void setup(const std::string& stage) { static_cast<void>(stage); }     ///< before the layers are built
  virtual void teardown(const std::string& stage) { static_cast<void>(stage); }  ///< last, also after an error
  virtual void on_fit_start() {}          ///< when layers and optimizers are made
  virtual void on_fit_end() {}            ///< after on_train_end(); not after an error
  virtual void on_train_start() {}        ///< before the first epoch
  virtual void on_train_end() {}          ///< after the last epoch
  virtual void on_train_epoch_start() {}  ///< before the first batch of each epoch
  virtual void on_train_epoch_end() {}    ///< after the validation of the epoch

  /// Before each step; batches count from 0 in each epoch.
  virtual void on_train_batch_start(const HostBatch&, std::int64_t) {}
  /// `outputs`: numbers that the step has logged, without those of metrics.
  virtual void on_train_batch_end(const Logs&, const HostBatch&, std::int64_t) {}
  virtual void on_validation_start() {}
  virtual void on_validation_end() {}
  virtual void on_validation_epoch_start() {}
  virtual void on_validation_epoch_end() {}
  virtual void on_validation_batch_start(const HostBatch&, std::int64_t) {}
  virtual void on_validation_batch_end(const HostBatch&, std::int64_t) {}
  virtual void on_test_start() {}
  virtual void on_test_end() {}
  virtual void on_test_epoch_start() {}
  virtual void on_test_epoch_end() {}
  virtual void on_test_batch_start(const HostBatch&, std::int64_t) {}
  virtual void on_test_batch_end(const HostBatch&, std::int64_t) {}
  virtual void on_predict_start() {}
  virtual void on_predict_end() {}
  virtual void on_predict_epoch_start() {}
  virtual void on_predict_epoch_end() {}
  virtual void on_predict_batch_start(const HostBatch&, std::int64_t) {}
  virtual void on_predict_batch_end(const HostBatch&, std::int64_t) {}
  /// Adds values of the module's own to a checkpoint. Also called by save_checkpoint() outside of fit.
  virtual void on_save_checkpoint(CallbackState&) {}
  /// Gets these values back, after weights and optimizers were read: in a fit that resumes, in load_from_checkpoint()
  /// and load_model(), and in evaluations with a ckpt_path. Not called for files without values.
  virtual void on_load_checkpoint(const CallbackState&) {}
  /// @}

  /// @name Hooks inside of training steps
  /// They run once for each trace of a step, as training_step() does, and compute with Values: log() and ops, no C++
  /// state. They may replace the values of gradients by others of the same shapes.
  /// @{
  virtual void on_before_backward(const Value&) {}  ///< the loss that is minimized, a scalar
  virtual void on_after_backward(Gradients&) {
  }  ///< gradients as they are computed, times the loss scale if there is one
  /// Gradients that the optimizer applies, before they are clipped: of the mean loss of accumulated batches, without
  /// loss scale. Not called in steps that only accumulate.
  virtual void on_before_optimizer_step(Gradients&, const OptimizerHandle&) {}
  /// Decides about an update: bool of shape (), such as `batch_idx() % 5 == 0`. False leaves weights, optimizer and its
  /// count as they are; {}, the default, always updates. Called once for each update in a step, not in steps that only
  /// accumulate. In a distributed training the update is made if all processes want it. A ShapeError for another Value;
  /// a ValueError for one with accumulated gradients or shard_optimizer_states.
  virtual Value optimizer_step(const OptimizerHandle&) { return {}; }
  /// Clips these gradients in place of the Trainer, by clip_gradients() or ops. `gradient_clip_val` and
  /// `gradient_clip_algorithm` are the options of the Trainer; none without the first. Returns true if the Trainer is
  /// not to clip them, as it does by default. A ValueError for true with shard_optimizer_states.
  virtual bool configure_gradient_clipping(Gradients& gradients, const OptimizerHandle& optimizer,
                                           std::optional<double> gradient_clip_val,
                                           const std::string& gradient_clip_algorithm);
  /// @}

  /// True if fit puts "val_" before every name that validation logs, as Keras does. If false, only names that training
  /// logs too have the prefix.
  virtual bool prefixes_validation() const { return false; }

  /// Ends the running fit after its step, as Session::stop(). A ValueError unless a hook of that fit calls it.
  void stop_training();

  /// Leaves out the training step of the running batch, or also the rest of its epoch, in on_train_batch_start, as
  /// Session::skip_batch() and skip_epoch(). A ValueError elsewhere. A training_step that returns {} leaves out all
  /// batches of their shape.
  void skip_batch();
  void skip_epoch();

  /// Epochs of the last fit that have ended, also of one that an error ended. A ValueError while another thread runs
  /// the module.
  History history();

  /// Records settings of the module for loggers and checkpoints, in its constructor: `save_hyperparameters({{"width",
  /// 64}, {"learning_rate", 1e-3}})`. Replaces those of equal names. A ValueError for an empty name.
  void save_hyperparameters(const Hyperparameters& parameters);
  const Hyperparameters& hyperparameters() const { return hyperparameters_; }

  /// Makes a module of class M from the arguments and loads the weights of a checkpoint or weight file, as
  /// load_weights: `auto net = Module::load_from_checkpoint<Net>("best.ckpt")`. Without arguments, a class that can be
  /// constructed from Hyperparameters is passed the saved ones. Another class is default-constructed, and a warning
  /// lists saved hyperparameters that differ from its own. Errors are those of load_weights and saved_hyperparameters.
  template <class M, class... Arguments>
  static M load_from_checkpoint(const std::string& path, Arguments&&... arguments) {
    static_assert(std::is_base_of_v<Module, M>, "load_from_checkpoint<M>: M must be a class derived from Module");
    M module = constructed<M>(path, std::forward<Arguments>(arguments)...);
    module.load_weights(path);
    load_values(module, path);
    return module;
  }

  /// @name For the code that runs steps
  /// @{
  virtual Model* as_model() { return nullptr; }  ///< the module itself, if it is a Model; else null
  /// Names of inputs and outputs of a predict step, "" for an input without one; empty lists if they have no names.
  virtual detail::FieldNames field_names() const { return {}; }
  const std::shared_ptr<detail::RunState>& run_state() const { return run_state_.pointer(); }
  void set_run_state(std::shared_ptr<detail::RunState> state) { run_state_.set(std::move(state)); }
  /// @}

 protected:
  /// Kind: name of the class, for names and error texts.
  explicit Module(const char* kind = "Module") : Layer(kind) { set_remat(false); }

  /// From an options struct with `name`, `dtype` and `trainable`.
  template <class Options>
  Module(const char* kind, const Options& options) : Layer(kind, options) {
    set_remat(false);  // a RematScope applies to the layers inside
  }
  Module(const Module&) = default;  // not public: `Module m = classifier` would slice
  Module(Module&&) = default;
  Module& operator=(const Module&) = default;
  Module& operator=(Module&&) = default;

  /// Logs the mean of a Value, inside a step. The number of an epoch is the mean over its samples, summed in double, or
  /// another reduction. A ValueError in a step for a C++ number: the trace would freeze its first value. A NameError if
  /// the step has logged the name already. In a hook between steps: sets a number of the running epoch or
  /// evaluation, for History, monitors and loggers; options are a ValueError there, and a name that steps log is a
  /// NameError. A ValueError in hooks after the numbers are complete, such as on_validation_end, and outside of steps
  /// and hooks.
  static void log(const std::string& name, const Value& value, const LogOptions& options = {});

  /// Logs several Values: `log_dict({{"loss", loss}, {"accuracy", accuracy}}, {.prog_bar = true})`.
  static void log_dict(const std::vector<std::pair<std::string, Value>>& values, const LogOptions& options = {});

  /// Logs the result of a metric that the step updates: `auc_.update_state(batch["y"], scores); log("auc", auc_,
  /// {.prog_bar = true});`. The number of an epoch is the result over its steps; it is reset for each epoch, validation
  /// and test. A ValueError outside of a step, a NameError if the step has logged the name already, a ShapeError if the
  /// result isn't one number.
  template <class M, class = std::enable_if_t<std::is_base_of_v<Metric, M> || std::is_same_v<M, Any<Metric>>>>
  static void log(const std::string& name, const M& metric, const LogOptions& options = {}) {
    log_metric(name, metric, options);
  }

  /// The op log, which the other overload would hide.
  static Value log(const Value& x) { return mezzo::log(x); }

  /// Clips gradients inside of hooks of a step: "norm" scales all if their common norm is above `gradient_clip_val`,
  /// "value" clips each element. A ValueError unless the bound is finite and above 0, and for another algorithm.
  static void clip_gradients(Gradients& gradients, double gradient_clip_val,
                             const std::string& gradient_clip_algorithm = "norm");

  /// Index of the loader of the running batch, 0 unless the evaluation has several. Inside a step, which is then traced
  /// once for each loader, and in the hooks between the batches of a loader. A ValueError elsewhere.
  static std::size_t dataloader_idx();

  /// Index of the running batch, int64 of shape (), inside a step: Lightning's `batch_idx`. It counts from 0 in each
  /// epoch, and in an evaluation with several loaders in each loader. A Value, since the step is traced once for all
  /// batches: use where() on it. 0 in train_on_batch and its like. A ValueError outside of a step; hooks have it as an
  /// argument.
  static Value batch_idx();

  /// Optimizer of that name in configure_optimizers(), inside a training step. A NameError that lists the names if
  /// there is none, a ValueError outside of a step.
  static OptimizerHandle optimizer(const std::string& name);
  // Also a literal 0.
  static OptimizerHandle optimizer(std::nullptr_t) = delete;  // NOLINT(modernize-use-equals-delete)

  /// Adds one update of the optimizer's weights by the gradient of the mean of `loss`, inside a training step. Values
  /// that are computed afterwards see the updated weights. A step may call it several times with one optimizer, each
  /// time with a loss that is computed after the call before. An update that float16's loss scaling skips leaves the
  /// weights to the later ones as they were.
  ///
  /// A ValueError outside of a step, if `loss` depends on no weight of the optimizer, or on one as it was before an
  /// update; for a second call with an optimizer that accumulates gradients or has ema_overwrite_frequency.
  static void minimize(const Value& loss, const OptimizerHandle& optimizer);

 private:
  template <class M, class... Arguments>
  static M constructed(const std::string& path, Arguments&&... arguments) {
    if constexpr (sizeof...(Arguments) == 0 && std::is_constructible_v<M, const Hyperparameters&>) {
      return M(detail::saved_hyperparameters(path));
    } else {
      M module(std::forward<Arguments>(arguments)...);
      if constexpr (sizeof...(Arguments) == 0) warn_of_ignored_hyperparameters(module, path);
      return module;
    }
  }
  /// Calls on_load_checkpoint() if the file has values for it.
  static void load_values(Module& module, const std::string& path);
  static void warn_of_ignored_hyperparameters(const Module& module, const std::string& path);
  static void log_metric(const std::string& name, const Any<Metric>& metric, const LogOptions& options);

  detail::Transient<detail::RunState> run_state_;
  Hyperparameters hyperparameters_;
};

}  // namespace mezzo
