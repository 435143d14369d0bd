#include <mezzo/core/random.hpp>
#include <mezzo/training/detail/step_runner.hpp>

namespace mezzo::detail {

std::uint64_t layers_signature(const LayerState& root) {
  std::uint64_t hash = mix(key_of(root.policy.name()), root.trainable ? 1 : 2);
  for (const Variable& weight : root.weights) {
    const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(weight.id()));
    hash = mix(hash, mix(address, static_cast<std::uint64_t>(weight.dtype()) * 2 + (weight.trainable() ? 1 : 0)));
  }
  for (const auto& child : root.children) hash = mix(hash, layers_signature(*child.second));
  return hash;
}

void convert_weights(const Layer& root, const Policy& base) {
  for (const WeightPolicy& weight : weight_policies(root, base)) {
    const DType wanted = weight.policy.variable_dtype();
    VariableState& state = *weight.variable.state();
    if (state.filled) state.convert(state.fixed_dtype ? accumulation_dtype(wanted) : wanted);
  }
}

}  // namespace mezzo::detail
