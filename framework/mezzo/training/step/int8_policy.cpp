#include <mezzo/training/step/int8_policy.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <mezzo/compiler/product_rates.hpp>
#include <mezzo/precision/policy_map.hpp>

namespace mezzo::detail {
namespace {

/// Paths of the layers with a matrix among their own weights, in the order of the layers.
void add_matrices(const LayerState& layer, const std::string& path, std::vector<std::string>& paths) {
  const bool has = std::any_of(layer.weights.begin(), layer.weights.end(),
                               [](const Variable& weight) { return weight.shape().size() > 1; });
  if (has) paths.push_back(path);
  for (const auto& [name, child] : layer.children) add_matrices(*child, path + (path.empty() ? "" : "/") + name, paths);
}

}  // namespace

Policy int8_policy(const Layer& root, bool fast_bfloat16) {
  const Policy inside = fast_bfloat16 ? "mixed_int8" : "p=f32,c=f32,products=int8";
  const Policy ends = fast_bfloat16 ? "mixed_bfloat16" : "float32";
  std::vector<std::string> paths;
  add_matrices(*root.state(), "", paths);
  PolicyMapOptions map{.default_policy = inside, .policies = {}};
  if (!paths.empty() && !paths.front().empty()) map.policies.emplace_back(paths.front(), ends);
  if (paths.size() > 1 && paths.back() != paths.front()) map.policies.emplace_back(paths.back(), ends);
  return map.policies.empty() ? inside : Policy(PolicyMap(map));
}

Policy completed_policy(const Policy& policy, bool int8_inside, const Layer& root) {
  const bool plain = policy.map() == nullptr && policy.products() != ProductFormat::same;
  return int8_inside && plain ? int8_policy(root, has_fast_bfloat16()) : policy;
}

Policy without_int8(const Policy& policy) {
  return {policy.compute_dtype(), policy.variable_dtype(), policy.output_dtype()};
}

}  // namespace mezzo::detail
