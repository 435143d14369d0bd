#pragma once
#include <cstdint>
#include <functional>
#include <utility>

#include <mezzo/core/api.hpp>
#include <mezzo/training/module/callback.hpp>

namespace mezzo {

struct LambdaCallbackOptions {
  std::function<void(int epoch, Logs& logs)> on_epoch_begin{};  ///< before the first batch; epochs count from 0
  std::function<void(int epoch, Logs& logs)> on_epoch_end{};    ///< after the validation of the epoch
  std::function<void(Logs& logs)> on_train_begin{};             ///< before the first epoch
  std::function<void(Logs& logs)> on_train_end{};               ///< after the last epoch; not after an error

  /// Before each training step; batches count from 0 in each epoch.
  std::function<void(std::int64_t batch, Logs& logs)> on_train_batch_begin{};
  std::function<void(std::int64_t batch, Logs& logs)> on_train_batch_end{};  ///< logs: means of the epoch so far
};

/// Hooks from functions: `LambdaCallback({.on_epoch_end = [](int epoch, const Logs& logs) { ... }})`. A function ends
/// the training by Model::stop_training().
class MEZZO_API LambdaCallback : public Callback {
 public:
  explicit LambdaCallback(LambdaCallbackOptions options) : options_(std::move(options)) {}

  void on_epoch_begin(int epoch, Logs& logs) override { call(options_.on_epoch_begin, epoch, logs); }
  void on_epoch_end(int epoch, Logs& logs) override { call(options_.on_epoch_end, epoch, logs); }
  void on_train_begin(Logs& logs) override { call(options_.on_train_begin, logs); }
  void on_train_end(Logs& logs) override { call(options_.on_train_end, logs); }
  void on_train_batch_begin(std::int64_t batch, Logs& logs) override {
    call(options_.on_train_batch_begin, batch, logs);
  }
  void on_train_batch_end(std::int64_t batch, Logs& logs) override { call(options_.on_train_batch_end, batch, logs); }

 private:
  template <class Function, class... Arguments>
  static void call(const Function& function, Arguments&&... arguments) {
    if (function) function(std::forward<Arguments>(arguments)...);
  }

  LambdaCallbackOptions options_;
};

}  // namespace mezzo
