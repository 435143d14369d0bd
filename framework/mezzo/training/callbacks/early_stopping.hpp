#pragma once
#include <optional>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/training/callbacks/monitor.hpp>

namespace mezzo {

struct EarlyStoppingOptions {
  std::string monitor = "val_loss";   ///< name in the logs of epochs
  double min_delta = 0;               ///< smaller changes are not an improvement
  int patience = 0;                   ///< checks without improvement after which training stops, 0 or more
  int verbose = 0;                    ///< 1: prints when it stops and restores
  std::string mode = "auto";          ///< "min", "max" or "auto": by the metric
  std::optional<double> baseline{};   ///< only values better than this restart the patience
  bool restore_best_weights = false;  ///< true: the model ends with the weights of the best epoch
  int start_from_epoch = 0;           ///< epochs before this one are not considered
  bool strict = true;                 ///< true: logs without the number are an error; false: a warning
  bool check_finite = false;          ///< true: stops at once at a number that is not finite (Lightning's default)
  std::optional<double> stopping_threshold{};    ///< stops at once at a number that is better than this
  std::optional<double> divergence_threshold{};  ///< stops at once at a number that is worse than this
  /// True: checks at the end of epochs, after their validation. False: after each validation; `patience` counts those.
  /// Not given: false if a Trainer validates in the middle of epochs or not after each one.
  std::optional<bool> check_on_train_epoch_end{};
};

/// Reason why EarlyStopping has stopped a training.
enum class EarlyStoppingReason {
  not_stopped,
  stopping_threshold,
  divergence_threshold,
  patience_exhausted,
  non_finite_metric
};

/// Stops fit once a number has stopped improving, by Keras' rules with the options of Lightning. NaN is not an
/// improvement.
class MEZZO_API EarlyStopping : public Callback {
 public:
  /// A ValueError for a negative patience, a NameError for an unknown mode.
  explicit EarlyStopping(EarlyStoppingOptions options = {});

  int stopped_epoch() const {
    return stopped_epoch_;
  }                                                     ///< number of the epoch in which it stopped; also 0 if it did
                                                        ///< not stop
  std::optional<double> best() const { return best_; }  ///< best value
  int best_epoch() const { return best_epoch_; }        ///< number of the epoch with it
  int wait() const { return wait_; }                    ///< checks since then
  EarlyStoppingReason stopping_reason() const { return reason_; }          ///< condition that ended the training
  const std::string& stopping_reason_message() const { return message_; }  ///< a sentence; "": not stopped

  void on_train_begin(Logs& logs) override;
  void on_epoch_end(int epoch, Logs& logs) override;
  void on_validation_end(Logs& logs) override;
  void on_train_end(Logs& logs) override;
  std::string state_name() const override { return "EarlyStopping." + monitor_.name(); }
  CallbackState state() const override;
  void set_state(const CallbackState& state) override;

 private:
  bool acts_after_epochs() const;
  void check(int epoch, const Logs& logs);
  /// True if the number ends the training without patience.
  bool ends_at_once(double current);
  void stop(int epoch, EarlyStoppingReason reason, const std::string& message);
  std::string best_text() const;
  void keep_weights(int epoch);

  EarlyStoppingOptions options_;
  detail::Monitor monitor_;
  int wait_ = 0, stopped_epoch_ = 0, best_epoch_ = 0;
  std::optional<double> best_;
  EarlyStoppingReason reason_ = EarlyStoppingReason::not_stopped;
  std::string message_;
  std::vector<Tensor> best_weights_;  // in the order of Module::weights()
};

}  // namespace mezzo
