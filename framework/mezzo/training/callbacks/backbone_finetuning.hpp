#pragma once
#include <functional>
#include <optional>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/training/callbacks/base_finetuning.hpp>

namespace mezzo {

struct BackboneFinetuningOptions {
  int unfreeze_backbone_at_epoch = 10;             ///< from 0 on; 0 or more
  std::function<double(int epoch)> lambda_func{};  ///< factor of the backbone's rate; not given: always 2
  double backbone_initial_ratio_lr = 0.1;          ///< first rate of the backbone over the optimizer's, above 0
  std::optional<double> backbone_initial_lr{};     ///< first rate of the backbone, above 0, in place of that
  bool should_align = true;                        ///< the backbone's rate never exceeds the optimizer's
  bool train_bn = true;                            ///< false: layers BatchNormalization stay frozen all the time
  bool verbose = false;                            ///< prints both rates at the start of epochs
  int rounding = 12;                               ///< decimals of these rates, 0 or more
  std::string backbone = "backbone";               ///< path of the backbone in the module
};

/// Trains with a frozen backbone first and unfreezes it at an epoch, as
/// lightning.pytorch.callbacks.BackboneFinetuning. From the next epoch on the backbone's rate is multiplied by
/// lambda_func(epoch + 1) at the start of each epoch.
class MEZZO_API BackboneFinetuning : public BaseFinetuning {
 public:
  /// A ValueError for an option out of its range.
  explicit BackboneFinetuning(BackboneFinetuningOptions options = {});

  std::string state_name() const override { return "BackboneFinetuning"; }

 protected:
  void freeze_before_training() override;
  /// Acts on the only optimizer. A ValueError if there are several.
  void finetune_function(int epoch, const std::string& optimizer) override;

 private:
  BackboneFinetuningOptions options_;
};

}  // namespace mezzo
