#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/training/module/callback.hpp>

namespace mezzo {

/// Options of BaseFinetuning::unfreeze_and_add_param_group.
struct UnfreezeOptions {
  std::string optimizer{};                ///< its name in configure_optimizers(); "": the only one
  std::optional<double> learning_rate{};  ///< rate of the group; not given: the optimizer's, divided by
                                          ///< initial_denom_lr
  double initial_denom_lr = 10;           ///< above 0
  bool train_bn = true;                   ///< false: layers BatchNormalization stay as they are
};

/// Base of callbacks that freeze and unfreeze layers during fit, as lightning.pytorch.callbacks.BaseFinetuning:
///
///     class Stages : public BaseFinetuning {
///       void freeze_before_training() override { freeze("backbone"); }
///       void finetune_function(int epoch, const std::string& optimizer) override {
///         if (epoch == 5) unfreeze_and_add_param_group("backbone", {.optimizer = optimizer, .learning_rate = 1e-4});
///       }
///     };
///
/// Layers are named by their paths: "backbone", "backbone/layer4"; "" is the module. Checkpoints keep the flags of all
/// layers and the groups with their rates; a resumed training restores them before it reads the weights.
class MEZZO_API BaseFinetuning : public Callback {
 public:
  void setup(const std::string& stage) override;
  void on_fit_start() override;
  void on_epoch_begin(int epoch, Logs& logs) override;
  std::string state_name() const override { return "BaseFinetuning"; }
  CallbackState state() const override;
  void on_resume(const CallbackState& state) override;

 protected:
  /// Freezes layers at the start of a training.
  virtual void freeze_before_training() = 0;

  /// Called for each optimizer at the start of each epoch, once for an epoch that a resume continues. `optimizer` is
  /// its name in configure_optimizers().
  virtual void finetune_function(int epoch, const std::string& optimizer) = 0;

  /// Freezes the weights below a path. With train_bn, layers BatchNormalization stay trainable, unless a layer around
  /// them has weights of its own. A NameError for an unknown path.
  void freeze(const std::string& path, bool train_bn = true) const;

  /// Makes the weights below a path trainable. A NameError for an unknown path.
  void make_trainable(const std::string& path) const;

  /// Makes the weights below a path trainable. Weights that were frozen become a group with its own learning rate, and
  /// are added to the optimizer. Returns the index of the group in Session::param_groups(), none if there are no such
  /// weights. A NameError for an unknown path or optimizer, a ValueError for an option out of its range.
  std::optional<std::size_t> unfreeze_and_add_param_group(const std::string& path,
                                                          const UnfreezeOptions& options = {}) const;

 private:
  bool resumed_ = false;
  int last_epoch_ = -1;  // for which finetune_function() was called
};

}  // namespace mezzo
