#include <mezzo/training/trainer.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/auto_precision.hpp>
#include <mezzo/training/batch_calls.hpp>
#include <mezzo/training/loop.hpp>

namespace mezzo {
namespace {

/// Precision "auto" gives the policy that fit has chosen for this module; before fit, the module's own.
detail::RunOptions run_options(const TrainerOptions& options, Module& module) {
  const Policy& policy =
      options.precision.automatic() ? detail::training_state(module).chosen : options.precision.policy();
  return {.policy = policy,
          .eager = options.eager,
          .loss_scale = options.loss_scale,
          .adaptive_threads = options.adaptive_threads,
          .float32_winograd = options.float32_winograd};
}

}  // namespace

Trainer::Trainer(TrainerOptions options) : options_(std::move(options)) {
  if (options_.max_epochs < -1) {
    fail<ValueError>("[Trainer]", "max_epochs must be at least -1; got {}", options_.max_epochs);
  }
  if (options_.max_steps < -1) {
    fail<ValueError>("[Trainer]", "max_steps must be at least -1; got {}", options_.max_steps);
  }
  if (options_.loss_scale) check_loss_scale(*options_.loss_scale, "[Trainer] loss_scale.");
  if (options_.max_epochs == -1 && options_.max_steps == -1) options_.max_epochs = 1000;
}

History Trainer::fit(Module& module, const DataLoader& train, const DataLoader& validation,
                     const TrainerFitOptions& options) const {
  std::optional<detail::Checkpoint> checkpoint;
  if (!options.ckpt_path.empty()) checkpoint.emplace(options.ckpt_path);
  if (options_.precision.automatic() && !train.empty()) {
    const Policy chosen = detail::choose_policy(module, train, run_options(options_, module));
    detail::training_state(module).chosen = chosen;
  }
  return detail::fit(module, train, validation, run_options(options_, module),
                     {.epochs = options_.max_epochs,
                      .max_steps = options_.max_steps,
                      .progress_bar = options_.enable_progress_bar,
                      .anew = true,
                      .checkpoint = checkpoint ? &*checkpoint : nullptr});
}

void Trainer::save_checkpoint(Module& module, const std::string& path, const CheckpointOptions& options) {
  detail::save_checkpoint(module, path, options);
}

Logs Trainer::validate(Module& module, const DataLoader& loader) const {
  return detail::evaluate(module, loader, detail::Phase::validate, run_options(options_, module));
}

Logs Trainer::test(Module& module, const DataLoader& loader) const {
  return detail::evaluate(module, loader, detail::Phase::test, run_options(options_, module));
}

Tensor Trainer::predict(Module& module, const DataLoader& loader) const {
  return detail::predict(module, loader, run_options(options_, module));
}

}  // namespace mezzo
