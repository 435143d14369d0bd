#pragma once
#include <optional>
#include <string>
#include <vector>

#include <mezzo/core/any.hpp>
#include <mezzo/nn/optimizer.hpp>
#include <mezzo/nn/variable.hpp>
#include <mezzo/training/module/lr_scheduler_config.hpp>

namespace mezzo {

/// An optimizer and the weights that it trains.
struct OptimizerConfig {
  Any<Optimizer> optimizer = "adam";  ///< an Optimizer or a Keras name
  std::vector<Variable> weights{};    ///< {}: all trainable weights of the module
  std::string name{};                 ///< for Module::optimizer(); several optimizers need different names
  /// Scaling of its gradients in steps that compute in float16; not given: the defaults of LossScaleOptions. A
  /// loss_scale of the Trainer overrides it.
  std::optional<LossScaleOptions> loss_scale{};
  /// Scheduler of the learning rate in fit, or several of which each has `steps` and the next one follows: a warm-up by
  /// steps, then a Plateau. Not given: the learning rate is the optimizer's, a number or a Schedule of its updates.
  detail::LRSchedulers lr_scheduler{};
};
using OptimizerConfigs = std::vector<OptimizerConfig>;  ///< for modules with several optimizers

}  // namespace mezzo
