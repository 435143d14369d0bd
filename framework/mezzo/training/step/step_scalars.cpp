#include <mezzo/training/step/step_scalars.hpp>

#include <mezzo/core/random.hpp>
#include <mezzo/nn/update_checks.hpp>
#include <mezzo/training/step/group_rates.hpp>

namespace mezzo::detail {

double runtime_value(const OptimizerConfigs& optimizers, const std::vector<ParamGroup>& groups,
                     const Progress& progress, const StepBatch& batch, const RuntimeKey& key) {
  switch (key.scalar) {
    case RuntimeScalar::step:
      return static_cast<double>(progress.step);
    case RuntimeScalar::epoch:
      return static_cast<double>(progress.epoch);
    case RuntimeScalar::batch:
      return static_cast<double>(batch.index);
    case RuntimeScalar::seed:
      return static_cast<double>(seed());
    case RuntimeScalar::first_sample:
      return batch.part ? static_cast<double>(batch.part->first) : 0;
    case RuntimeScalar::sample_share:
      return batch.share();
    case RuntimeScalar::learning_rate:
      if (const auto group = group_of(key, optimizers.size())) return groups[*group].learning_rate;
      return finite_learning_rate(*optimizers[key.optimizer].optimizer, static_cast<std::int64_t>(key.earlier));
    case RuntimeScalar::count:
      return static_cast<double>(optimizers[key.optimizer].optimizer->iterations() + 1);
    case RuntimeScalar::loss_scale:
      break;
  }
  return optimizers[key.optimizer].optimizer->state()->loss_scale.scale();
}

}  // namespace mezzo::detail
