#include <algorithm>

#include <mezzo/core/random.hpp>
#include <mezzo/precision/policy_map.hpp>
#include <mezzo/training/step_runner.hpp>

namespace mezzo::detail {
namespace {

/// Whether a layer's policy leaves nothing to the levels above it.
bool overrides_all(const Policy& policy) {
  return !policy.inherits() && (policy.map() == nullptr || !policy.map()->default_policy().inherits());
}

/// Whether anything below is left to the Trainer.
bool reached(const LayerState& state) {
  if (overrides_all(state.policy)) return false;
  return state.children.empty() || !state.weights.empty() ||
         std::any_of(state.children.begin(), state.children.end(),
                     [](const auto& child) { return reached(*child.second); });
}

void list_overrides(const LayerState& state, const std::string& path, std::string& text) {
  if (!state.policy.inherits()) {
    text += (text.empty() ? "" : ", ") + (path.empty() ? state.kind : path) + " (" + state.policy.name() + ")";
    return;
  }
  for (const auto& child : state.children) {
    list_overrides(*child.second, path + (path.empty() ? "" : "/") + child.first, text);
  }
}

void add_paths(const LayerState& state, const std::string& prefix, std::vector<std::string>& paths) {
  for (const auto& child : state.children) {
    paths.push_back(prefix + child.first);
    add_paths(*child.second, paths.back() + "/", paths);
  }
}

void require_matches(const Layer& root, const PolicyMap& map) {
  std::vector<std::string> paths;
  add_paths(*root.state(), "", paths);
  const std::vector<std::string> unmatched = map.unmatched(paths);
  if (unmatched.empty()) return;
  std::string text;
  for (const std::string& path : paths) text += (text.empty() ? "" : ", ") + path;
  throw ValueError("[PolicyMap] entry \"" + unmatched.front() + "\" matches no layer; there are: " + text);
}

}  // namespace

std::uint64_t layers_signature(const LayerState& root) {
  std::uint64_t hash = mix(key_of(root.policy.name()), root.trainable ? 1 : 2);
  for (const Variable& weight : root.weights) {
    const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(weight.id()));
    const auto remainder = reinterpret_cast<std::uintptr_t>(weight.state()->remainder.get());
    hash = mix(hash, mix(address, static_cast<std::uint64_t>(weight.dtype()) * 2 + (weight.trainable() ? 1 : 0)));
    hash = mix(hash, static_cast<std::uint64_t>(remainder));
  }
  for (const auto& child : root.children) hash = mix(hash, layers_signature(*child.second));
  return hash;
}

std::vector<Conversion> conversions(const Layer& root, const Policy& policy) {
  std::vector<Conversion> out;
  if (policy.inherits()) return out;
  for (const WeightPolicy& weight : weight_policies(root, policy)) {
    const Shared<VariableState>& state = weight.variable.state();
    const DType dtype = stored_dtype(weight);
    if (state->filled && state->dtype() != dtype) out.push_back({state, dtype});
  }
  return out;
}

void require_reach(const Layer& root, const Policy& policy) {
  if (policy.map() != nullptr) require_matches(root, *policy.map());
  if (policy.inherits() || reached(*root.state())) return;
  std::string overrides;
  list_overrides(*root.state(), "", overrides);
  throw ValueError("[Trainer] precision " + policy.name() +
                   " reaches no layer: every one has a dtype of its own or its container's: " + overrides);
}

}  // namespace mezzo::detail
