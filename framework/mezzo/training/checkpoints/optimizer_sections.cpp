#include <mezzo/training/checkpoints/optimizer_sections.hpp>

#include <algorithm>
#include <optional>

#include <mezzo/training/checkpoints/checkpoint.hpp>

namespace mezzo::detail {
namespace {

namespace names = checkpoint_format;

/// Compensation that kahan_summation keeps for a variable; none without that option.
std::optional<Tensor> compensation_of(const Optimizer& optimizer, const VariableState& variable) {
  const std::size_t place = optimizer.all_slot_names().size();
  if (!optimizer.compensates(variable)) return {};
  for (const Optimizer::Slots& slots : optimizer.state()->slots) {
    if (slots.variable.get() != &variable || slots.values.size() <= place) continue;
    const VariableState& slot = *slots.values[place];
    if (slot.filled && slot.dtype() == variable.dtype()) return slot.value;
  }
  return {};
}

/// Numbers of a weight; while it is swapped with its average, the numbers with which training continues.
Tensor trained_numbers(const VariableState& variable, const OptimizerConfigs& optimizers) {
  for (const OptimizerConfig& config : optimizers) {
    for (const auto& [swapped, numbers] : config.optimizer->state()->swapped) {
      if (swapped.get() == &variable) return numbers;
    }
  }
  return variable.numbers();
}

}  // namespace

Tensor whole_weight(const VariableState& variable, const OptimizerConfigs& optimizers) {
  Tensor numbers = trained_numbers(variable, optimizers).cast(file_dtype(variable.dtype()));
  for (const OptimizerConfig& config : optimizers) {
    const auto compensation = compensation_of(*config.optimizer, variable);
    if (!compensation) continue;
    const Tensor rest = compensation->cast(DType::float32);
    auto* sum = numbers.mutable_data<float>();
    for (std::int64_t i = 0; i < rest.size(); ++i) sum[i] += rest.data<float>()[i];
  }
  return numbers;
}

void add_slots(const OptimizerConfig& config, const FileWeight& weight, bool rounded, NamedTensors& tensors) {
  const Optimizer& optimizer = *config.optimizer;
  const VariableState& variable = *weight.variable.state();
  if (variable.quantization) return;  // it isn't trained again; these are the slots of the floats that it had
  for (const Optimizer::Slots& slots : optimizer.state()->slots) {
    if (slots.variable.get() != &variable) continue;
    const std::vector<std::string> slot_names = optimizer.all_slot_names();
    for (std::size_t i = 0; i < std::min(slots.values.size(), slot_names.size()); ++i) {
      if (slots.values[i]->filled) {
        const Tensor value = slots.values[i]->numbers();
        const Tensor numbers = value.cast(file_dtype(value.dtype()));
        const bool like_weight = value.shape() == variable.value.shape();
        tensors.emplace_back(names::slot_key(config.name, slot_names[i], weight.name()),
                             like_weight ? weight.in_file(numbers) : numbers);
      }
    }
  }
  // Stored in the variable's dtype: it is the rounding error of that dtype. It has no meaning for a weight that is
  // rounded to another dtype here.
  const auto compensation = compensation_of(optimizer, variable);
  if (compensation && !rounded) {
    tensors.emplace_back(names::slot_key(config.name, Optimizer::compensation_name, weight.name()),
                         weight.in_file(*compensation));
  }
}

void add_optimizer_numbers(const OptimizerConfig& config, Metadata& metadata) {
  const auto key = [&](const char* what) { return names::optimizer_key(config.name, what); };
  const Optimizer::State& state = *config.optimizer->state();
  metadata[key(names::iterations)] = fmt::to_string(state.iterations);
  if (state.accumulated > 0) metadata[key(names::accumulated)] = fmt::to_string(state.accumulated);
  if (state.learning_rate && !state.learning_rate->is_schedule()) {
    metadata[key(names::learning_rate)] = fmt::format("{}", state.learning_rate->at(0));
  }
  const LossScaleState& scale = state.loss_scale.state();
  const bool untouched =
      scale.scale == state.loss_scale.options().initial_scale && scale.finite_steps == 0 && scale.skipped == 0;
  if (untouched) return;
  metadata[key(names::loss_scale)] = fmt::format("{}", scale.scale);
  metadata[key(names::finite_steps)] = fmt::to_string(scale.finite_steps);
  metadata[key(names::skipped)] = fmt::to_string(scale.skipped);
}

}  // namespace mezzo::detail
