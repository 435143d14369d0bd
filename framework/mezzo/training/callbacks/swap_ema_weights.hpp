#pragma once
#include <exception>
#include <type_traits>

#include <mezzo/core/api.hpp>
#include <mezzo/training/module/callback.hpp>

namespace mezzo {

struct SwapEMAWeightsOptions {
  /// True: the model also has the averages from the end of an epoch to the beginning of the next one, for callbacks
  /// after this one in the list and for those that save weights.
  bool swap_on_epoch = false;
};

/// Evaluates and predicts with the averages of use_ema, as keras.callbacks.SwapEMAWeights: they replace the weights in
/// validation, evaluate and predict. The weights are restored afterwards, also if an error or a stop ends the call.
/// Checkpoints that are saved in between hold the weights, beside the averages, so that a training resumed from them
/// continues as if it had not been interrupted. With swap_on_epoch the model ends with the averages.
class MEZZO_API SwapEMAWeights : public Callback {
 public:
  explicit SwapEMAWeights(const SwapEMAWeightsOptions& options = {}) : options_(options) {}

  /// Positional: `SwapEMAWeights(true)`.
  template <class B, std::enable_if_t<std::is_same_v<B, bool>, int> = 0>
  explicit SwapEMAWeights(B swap_on_epoch) : SwapEMAWeights(SwapEMAWeightsOptions{swap_on_epoch}) {}

  /// A ValueError unless an optimizer has use_ema.
  void on_train_begin(Logs& logs) override;
  void on_train_end(Logs& logs) override;
  void on_epoch_begin(int epoch, Logs& logs) override;
  void on_epoch_end(int epoch, Logs& logs) override;
  void on_test_begin(Logs&) override { begin(); }
  void on_test_end(Logs&) override { end(); }
  void on_predict_begin(Logs&) override { begin(); }
  void on_predict_end(Logs&) override { end(); }
  void on_exception(const std::exception& error) override;

 private:
  void begin();
  void end();
  /// Sets the model's weights to the averages, or back. False if they are set already.
  bool swap(bool averages) const;

  SwapEMAWeightsOptions options_;
  bool by_call_ = false, by_epoch_ = false;  // true: this callback has set the averages
};

}  // namespace mezzo
