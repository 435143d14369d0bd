#include <mezzo/training/step/layer_policies.hpp>

#include <algorithm>
#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/graph/adapters.hpp>
#include <mezzo/precision/policy_map.hpp>

namespace mezzo::detail {
namespace {

/// True if a layer's policy overrides the levels above it for every layer below.
bool overrides_all(const Policy& policy) {
  return !policy.inherits() && (policy.map() == nullptr || !policy.map()->default_policy().inherits());
}

/// True if a Trainer's policy applies to any layer below.
bool reached(const LayerState& state) {
  if (overrides_all(state.policy)) return false;
  return state.children.empty() || !state.weights.empty() ||
         std::any_of(state.children.begin(), state.children.end(),
                     [](const auto& child) { return reached(*child.second); });
}

/// `backbone/conv1 (float32)` for each layer that overrides a Trainer's policy.
void add_overrides(const LayerState& state, const std::string& path, std::vector<std::string>& out) {
  if (!state.policy.inherits()) {
    out.push_back(fmt::format("{} ({})", path.empty() ? state.kind : path, state.policy.name()));
    return;
  }
  for (const auto& child : state.children) {
    add_overrides(*child.second, path + (path.empty() ? "" : "/") + child.first, out);
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
  fail<ValueError>("[PolicyMap]", "every entry must match a layer; got \"{}\"; valid paths: {}", unmatched.front(),
                   fmt::join(paths, ", "));
}

/// Ids of the weights whose dtype no layer's policy sets: it differs with the policy above all layers.
std::set<const void*> inheriting_weights(const Layer& root) {
  std::set<const void*> out;
  const std::vector<WeightPolicy> low = weight_policies(root, "float32"), high = weight_policies(root, "float64");
  for (std::size_t i = 0; i < low.size(); ++i) {
    if (low[i].policy != high[i].policy) out.insert(low[i].variable.id());
  }
  return out;
}

}  // namespace

std::uint64_t layers_signature(const LayerState& root) {
  std::uint64_t hash = mix(key_of(root.policy.name()), root.trainable ? 1 : 2);
  hash = mix(hash, mix(static_cast<std::uint64_t>(root.remat.mode), static_cast<std::uint64_t>(root.remat.threshold)));
  for (const Variable& weight : root.weights) {
    const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(weight.id()));
    const auto remainder = reinterpret_cast<std::uintptr_t>(weight.state()->remainder.get());
    hash = mix(hash, mix(address, static_cast<std::uint64_t>(weight.dtype())));
    hash = mix(hash, static_cast<std::uint64_t>(remainder));
    if (const auto& adapters = weight.state()->adapters) hash = mix(hash, adapters->signature());
  }
  for (const auto& child : root.children) hash = mix(hash, layers_signature(*child.second));
  return hash;
}

std::vector<Conversion> conversions(const Layer& root, const Policy& policy) {
  std::vector<Conversion> out;
  const std::set<const void*> inheriting = policy.inherits() ? inheriting_weights(root) : std::set<const void*>();
  for (const WeightPolicy& weight : weight_policies(root, policy)) {
    const Shared<VariableState>& state = weight.variable.state();
    const bool of_layer = policy.inherits() && inheriting.count(weight.variable.id()) == 0;
    if (policy.inherits() && !of_layer && state->policy_version == dtype_policy_version()) continue;
    const DType dtype = stored_dtype(weight);
    if (state->filled && state->dtype() != dtype) out.push_back({state, dtype, weight.path, of_layer});
  }
  return out;
}

void convert_all(const std::vector<Conversion>& conversions) {
  for (const Conversion& due : conversions) {
    due.weight->convert(due.dtype);
    if (due.of_layer) due.weight->policy_version = dtype_policy_version() - 1;
  }
}

void require_reach(const Layer& root, const Policy& policy) {
  if (policy.map() != nullptr) require_matches(root, *policy.map());
  if (policy.inherits() || policy.by_op() != nullptr || reached(*root.state())) return;  // op lists apply to all
  std::vector<std::string> overrides;
  add_overrides(*root.state(), "", overrides);
  fail<ValueError>("[Trainer]",
                   "precision {} must apply to a layer; got layers that all have a policy of their own: {}",
                   policy.name(), fmt::join(overrides, ", "));
}

}  // namespace mezzo::detail
