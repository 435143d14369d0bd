#include <mezzo/training/step/run_optimizers.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/step/optimizer_owner.hpp>
#include <mezzo/training/step/optimizer_weights.hpp>
#include <mezzo/training/step/scheduler_steps.hpp>

namespace mezzo::detail {
namespace {

/// Throws a ValueError if the Trainer and the optimizer set the same thing.
void check_against_trainer(const OptimizerConfig& config, const RunOptions& options) {
  const OptimizerCommon& own = config.optimizer->common();
  if (options.accumulate > 1 && own.gradient_accumulation_steps > 0) {
    fail<ValueError>("[Trainer]",
                     "accumulate_grad_batches must be 1 with an optimizer that has gradient_accumulation_steps; got {} "
                     "and {}",
                     options.accumulate, own.gradient_accumulation_steps);
  }
  if (options.clip && (own.clipnorm > 0 || own.clipvalue > 0 || own.global_clipnorm > 0)) {
    fail<ValueError>("[Trainer]",
                     "gradient_clip_val must not be given with an optimizer that clips; got {} and an optimizer \"{}\" "
                     "with clipnorm {}, clipvalue {}, global_clipnorm {}",
                     options.clip->bound, config.name, own.clipnorm, own.clipvalue, own.global_clipnorm);
  }
}

}  // namespace

void add_weights(OptimizerConfigs& configs, const ParamGroup& group) {
  std::vector<std::string> names;
  for (OptimizerConfig& config : configs) {
    names.push_back(config.name);
    if (config.name != group.optimizer && !(group.optimizer.empty() && configs.size() == 1)) continue;
    for (const Variable& weight : group.weights) {
      if (!trains(config, weight)) config.weights.push_back(weight);
    }
    return;
  }
  fail_unknown("[Trainer]", "optimizer of a group", group.optimizer, names);
}

void set_windows(const OptimizerConfigs& configs, const RunOptions& options, bool last_of_epoch) {
  for (const OptimizerConfig& config : configs) {
    auto& window = config.optimizer->state()->window;
    window.reset();
    if (options.accumulate > 0) window = {.steps = options.accumulate, .ends = last_of_epoch};
  }
}

OptimizerConfigs make_optimizers(Module& module, const RunOptions& options, const std::vector<ParamGroup>& groups,
                                 bool last_of_epoch) {
  OptimizerConfigs configs = module.configure_optimizers();
  if (configs.empty()) {
    fail<ValueError>("[Trainer]",
                     "configure_optimizers must return an optimizer; got none: override it, or compile() "
                     "the model");
  }
  for (std::size_t i = 0; i < configs.size(); ++i) {
    const std::string& name = configs[i].name;
    if (!configs[i].optimizer) {
      fail<ValueError>("[Trainer]", "configure_optimizers must set every optimizer; got an empty one named \"{}\"",
                       name);
    }
    if (configs[i].loss_scale) {
      check_loss_scale(*configs[i].loss_scale, fmt::format("[Trainer] optimizer \"{}\": loss_scale.", name));
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (name == configs[j].name) {
        fail<NameError>("[Trainer]", "names of optimizers must differ; got \"{}\" twice", name);
      }
    }
    check_against_trainer(configs[i], options);
    check_scheduler(configs[i]);
  }
  for (const ParamGroup& group : groups) add_weights(configs, group);
  set_windows(configs, options, last_of_epoch);
  return configs;
}

void use_optimizers(Module& module, const RunOptions& options, OptimizerConfigs configs, bool reset) {
  TrainingState& state = training_state(module);
  for (const OptimizerConfig& config : configs) {
    if (reset) config.optimizer->reset();
    own_optimizer(*config.optimizer, module.state().pointer(), reset);
    if (reset && !config.lr_scheduler.empty())
      config.optimizer->state()->learning_rate.reset();  // of the training before
    const auto& scale = options.loss_scale ? options.loss_scale : config.loss_scale;
    if (scale) config.optimizer->state()->loss_scale = LossScale(*scale);
  }
  set_windows(configs, options, state.last_of_epoch);  // a checkpoint restores the accumulated gradients of a window
  if (reset) static_cast<Progress&>(state) = {};
  state.optimizers = std::move(configs);
  state.schedulers.assign(state.optimizers.size(), {});
  state.plans.clear();
  state.plans.reset_counts();
  state.configured = true;
}

}  // namespace mezzo::detail
