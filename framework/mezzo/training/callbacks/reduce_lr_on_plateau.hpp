#pragma once
#include <optional>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/training/callbacks/monitor.hpp>

namespace mezzo {

struct ReduceLROnPlateauOptions {
  std::string monitor = "val_loss";  ///< name in the logs of epochs
  double factor = 0.1;               ///< factor of each reduction, in [0, 1)
  int patience = 10;                 ///< epochs without improvement after which it reduces, 0 or more
  int verbose = 0;                   ///< 1: prints each reduction
  std::string mode = "auto";         ///< "min", "max" or "auto": by the name
  double min_delta = 1e-4;           ///< smaller changes are not an improvement
  int cooldown = 0;                  ///< epochs after a reduction before it counts again, 0 or more
  double min_lr = 0;                 ///< lower bound of the learning rate, at least 0
};

/// Reduces the learning rate of all optimizers once a number has stopped improving, by Keras' rules. Adds the learning
/// rate of the epoch to the logs: `learning_rate`, with several optimizers `learning_rate_<name>`. A ValueError at the
/// reduction of an optimizer with a Schedule, and if nothing logs the number.
class MEZZO_API ReduceLROnPlateau : public Callback {
 public:
  /// A ValueError for an option out of its range, a NameError for an unknown mode.
  explicit ReduceLROnPlateau(ReduceLROnPlateauOptions options = {});

  std::optional<double> best() const { return best_; }  ///< best value
  int wait() const { return wait_; }                    ///< epochs since the best value or the last reduction

  void on_train_begin(Logs& logs) override;
  void on_epoch_end(int epoch, Logs& logs) override;
  std::string state_name() const override { return "ReduceLROnPlateau." + monitor_.name(); }
  CallbackState state() const override;
  void set_state(const CallbackState& state) override;

 private:
  bool reduce(int epoch) const;

  ReduceLROnPlateauOptions options_;
  detail::Monitor monitor_;
  std::optional<double> best_;
  int wait_ = 0, cooldown_ = 0;
};

}  // namespace mezzo
