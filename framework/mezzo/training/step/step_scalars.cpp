// Numbers that change from step to step without another plan.
#include <mezzo/core/random.hpp>
#include <mezzo/nn/update_checks.hpp>
#include <mezzo/training/step/step_runner.hpp>

namespace mezzo::detail {

double StepRunner::share_of_batch() const {
  return part_ ? static_cast<double>(part_->size) / static_cast<double>(part_->whole) : 1;
}

double StepRunner::runtime_value(const RuntimeKey& key) const {
  switch (key.scalar) {
    case RuntimeScalar::step:
      return static_cast<double>(state_.step);
    case RuntimeScalar::epoch:
      return static_cast<double>(state_.epoch);
    case RuntimeScalar::batch:
      return static_cast<double>(batch_idx_);
    case RuntimeScalar::seed:
      return static_cast<double>(seed());
    case RuntimeScalar::first_sample:
      return part_ ? static_cast<double>(part_->first) : 0;
    case RuntimeScalar::sample_share:
      return share_of_batch();
    case RuntimeScalar::learning_rate:
      if (key.optimizer >= state_.optimizers.size()) {
        return state_.param_groups[key.optimizer - state_.optimizers.size()].learning_rate;
      }
      return finite_learning_rate(*state_.optimizers[key.optimizer].optimizer, static_cast<std::int64_t>(key.earlier));
    case RuntimeScalar::count:
      return static_cast<double>(state_.optimizers[key.optimizer].optimizer->iterations() + 1);
    case RuntimeScalar::loss_scale:
      break;
  }
  return state_.optimizers[key.optimizer].optimizer->state()->loss_scale.scale();
}

}  // namespace mezzo::detail
