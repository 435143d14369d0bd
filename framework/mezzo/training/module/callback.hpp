#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/tensor.hpp>
#include <mezzo/core/unmoved.hpp>
#include <mezzo/training/module/callback_state.hpp>
#include <mezzo/training/module/module.hpp>
#include <mezzo/training/module/session.hpp>

namespace mezzo {

namespace detail {
class CallbackHandle;
class CallbackSession;
}  // namespace detail

/// Base of callbacks: hooks that fit, evaluate and predict, of Model and Trainer alike, call between their steps. Names
/// and arguments are Keras'. Epochs and batches are counted from 0. `logs` holds the numbers of the batch or epoch;
/// numbers that on_epoch_end adds are seen by later callbacks and History. In evaluate and in the validation of fit the
/// on_test hooks run, in predict the on_predict hooks.
///
/// Between steps a hook may use the model: predict and evaluate, read and replace weights, save. It can't call fit or
/// compile. An exception that a hook throws ends the call with that error.
class MEZZO_API Callback : public detail::MoveChecked {
 public:
  Callback();
  Callback(const Callback& other);
  Callback(Callback&& other) noexcept;
  Callback& operator=(const Callback& other);
  Callback& operator=(Callback&& other) noexcept;
  ~Callback() override;

  /// @name Hooks of Lightning that Keras lacks
  /// @{
  virtual void setup(const std::string&) {}     ///< first of a call: "fit", "validate", "test" or "predict"
  virtual void teardown(const std::string&) {}  ///< last of a call, also after an error
  virtual void on_fit_start() {}           ///< after setup(), when the layers are built and the optimizers are made
  virtual void on_fit_end() {}             ///< after on_train_end
  virtual void on_sanity_check_start() {}  ///< before the validation steps that precede the training
  virtual void on_sanity_check_end() {}    ///< after them
  /// After each validation inside of fit, also in the middle of an epoch. `logs` has the numbers of the epoch so far
  /// and those of the validation, under their names in History.
  virtual void on_validation_end(Logs&) {}
  /// @}

  virtual void on_train_begin(Logs&) {}                        ///< before the first epoch
  virtual void on_train_end(Logs&) {}                          ///< after the last epoch; not after an error
  virtual void on_epoch_begin(int, Logs&) {}                   ///< before the first batch; epochs count from 0
  virtual void on_epoch_end(int, Logs&) {}                     ///< after the validation of the epoch
  virtual void on_train_batch_begin(std::int64_t, Logs&) {}    ///< before each step; batches count from 0 in each epoch
  virtual void on_train_batch_end(std::int64_t, Logs&) {}      ///< logs: means of the epoch so far
  virtual void on_test_begin(Logs&) {}                         ///< before the first batch of an evaluation
  virtual void on_test_end(Logs&) {}                           ///< logs: without the prefix "val_"
  virtual void on_test_batch_begin(std::int64_t, Logs&) {}     ///< before each batch of an evaluation
  virtual void on_test_batch_end(std::int64_t, Logs&) {}       ///< logs: means of the evaluation so far
  virtual void on_predict_begin(Logs&) {}                      ///< before the first batch of a prediction
  virtual void on_predict_end(Logs&) {}                        ///< after the last batch of a prediction
  virtual void on_predict_batch_begin(std::int64_t, Logs&) {}  ///< before each batch of a prediction
  virtual void on_predict_batch_end(std::int64_t, Logs&) {
  }  ///< session().outputs(): one tensor for each output of the model

  /// Called when an error ends the call, also one of another callback. The error reaches the caller afterwards. An
  /// exception that this hook throws becomes a warning.
  virtual void on_exception(const std::exception&) {}

  /// Called if a training step's loss or gradients are not finite; the step has changed no variable. `error` is the
  /// text of the error that fit would throw. True: the training stops as by Session::stop(), without the error, and the
  /// epoch's "loss" is NaN. Skipped steps under loss scaling don't count.
  virtual bool on_non_finite(std::int64_t batch, const std::string& error);

  /// True for a callback that writes checkpoints. Its hooks run after the hooks of all other callbacks.
  virtual bool saves() const { return false; }

  /// False: under a strategy with several ranks only rank 0 calls the hooks. For callbacks that write files or to the
  /// terminal. Numbers in logs are those of all ranks at each rank. Default: not saves().
  virtual bool on_all_ranks() const { return !saves(); }

  /// Key under which checkpoints keep the state of the callback; "": it is not kept.
  virtual std::string state_name() const { return {}; }
  virtual CallbackState state() const { return {}; }
  /// Called in a fit that resumes, with the state of the checkpoint, before weights and optimizers are read: for
  /// callbacks that change which weights are trained. set_state() follows.
  virtual void on_resume(const CallbackState&) {}
  virtual void set_state(const CallbackState&) {}

  /// Results of a callback that runs only at rank 0, such as paths and scores, for its copies at the other ranks after
  /// a call. None: nothing.
  virtual std::optional<CallbackState> results() const { return {}; }
  /// Sets the results of rank 0, at another rank.
  virtual void take_results(const CallbackState&) {}

  /// The running call. A ValueError outside of one.
  Session& session() const;
  Module& module() const { return session().module(); }
  Model& model() const { return session().model(); }  ///< a ValueError if the module is not a Model

 private:
  friend class detail::CallbackHandle;
  friend class detail::CallbackSession;

  std::shared_ptr<Callback*> self_;  // handles refer to it
  std::atomic<Session*> session_{nullptr};
};

namespace detail {
/// Element of the option `callbacks`. Made from a temporary, it owns the callback: `.callbacks = {EarlyStopping()}`.
/// Made from a variable, it refers to that object, which has the results after the call:
///
///     EarlyStopping stopping({.patience = 3});
///     model.fit(x, y, {.epochs = 100, .callbacks = {stopping}});
///     std::cout << stopping.stopped_epoch();
///
/// The variable must exist as long as the option is used (a Trainer keeps its options): a ValueError otherwise.
class MEZZO_API CallbackHandle {
 public:
  CallbackHandle(Callback& callback) : referred_(callback.self_) {}
  CallbackHandle(const Callback& callback) = delete;  // hooks change the object

  template <class C, class = std::enable_if_t<std::is_base_of_v<Callback, C> && !std::is_lvalue_reference_v<C> &&
                                              !std::is_const_v<C>>>
  CallbackHandle(C&& callback) : owned_(std::make_shared<C>(std::move(callback))) {}  // NOLINT

  template <class C, class = std::enable_if_t<std::is_base_of_v<Callback, C>>>
  CallbackHandle(std::shared_ptr<C> callback) : owned_(std::move(callback)) {}

  /// The callback. A ValueError if it is empty or the variable no longer exists.
  Callback& get() const;

 private:
  std::shared_ptr<Callback> owned_;
  std::weak_ptr<Callback*> referred_;
};
}  // namespace detail

/// Type of the option `callbacks`.
using Callbacks = std::vector<detail::CallbackHandle>;

namespace detail {
/// Makes a Session the current one of a callback for its lifetime. For the code that runs loops.
class MEZZO_API CallbackSession {
 public:
  /// A ValueError if the callback belongs to another running call, or is in the list twice.
  CallbackSession(Callback& callback, Session& session);
  ~CallbackSession();
  CallbackSession(const CallbackSession&) = delete;
  CallbackSession& operator=(const CallbackSession&) = delete;

 private:
  Callback& callback_;
};
}  // namespace detail

}  // namespace mezzo
