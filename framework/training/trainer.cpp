#include <mezzo/training/trainer.hpp>

#include <mezzo/training/detail/loop.hpp>

namespace mezzo {
namespace {

detail::RunOptions run_options(const TrainerOptions& options) {
  return {options.precision.policy(), options.eager, {}, options.loss_scale};
}

}  // namespace

Trainer::Trainer(TrainerOptions options) : options_(std::move(options)) {
  if (options_.max_epochs < -1) {
    throw ValueError("[Trainer] max_epochs must be at least -1; got " + std::to_string(options_.max_epochs));
  }
  if (options_.max_steps < -1) {
    throw ValueError("[Trainer] max_steps must be at least -1; got " + std::to_string(options_.max_steps));
  }
  if (options_.loss_scale) check_loss_scale(*options_.loss_scale, "[Trainer] loss_scale.");
  if (options_.max_epochs == -1 && options_.max_steps == -1) options_.max_epochs = 1000;
}

History Trainer::fit(Module& module, const DataLoader& train, const DataLoader& validation) const {
  return detail::fit(module, train, validation, run_options(options_),
                     {options_.max_epochs, options_.max_steps, options_.enable_progress_bar, true});
}

Logs Trainer::validate(Module& module, const DataLoader& loader) const {
  return detail::evaluate(module, loader, detail::Phase::validate, run_options(options_));
}

Logs Trainer::test(Module& module, const DataLoader& loader) const {
  return detail::evaluate(module, loader, detail::Phase::test, run_options(options_));
}

Tensor Trainer::predict(Module& module, const DataLoader& loader) const {
  return detail::predict(module, loader, run_options(options_));
}

}  // namespace mezzo
