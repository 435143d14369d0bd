#include <mezzo/compiler/inference/frozen_constants.hpp>

#include <fmt/format.h>

#include <cstring>
#include <set>
#include <string_view>
#include <utility>

#include <mezzo/compiler/rewrite.hpp>
#include <mezzo/graph/executor.hpp>
#include <mezzo/graph/op_registry.hpp>

namespace mezzo::detail {

Tensor FrozenConstants::value_of(const std::shared_ptr<VariableState>& variable) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = variables_.find(variable.get());
  if (found != variables_.end()) return found->second.value;
  return variables_.emplace(variable.get(), Kept{variable, variable->value}).first->second.value;
}

Tensor FrozenConstants::shared(const Tensor& tensor) {
  const std::string_view bytes(static_cast<const char*>(tensor.raw()), tensor.bytes());
  const std::string key = fmt::format("bytes {} {:x}", tensor.describe(), std::hash<std::string_view>{}(bytes));
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Tensor>& equal = results_[key];
  for (const Tensor& other : equal) {
    if (std::memcmp(other.raw(), tensor.raw(), tensor.bytes()) == 0) return other;
  }
  equal.push_back(tensor.owned());
  return equal.back();
}

std::vector<Tensor> FrozenConstants::results_of(const Node& node, const std::vector<Tensor>& operands) {
  std::string key = fmt::format("{}|{}", node.op->name, node.attributes.to_string());
  for (const Spec& spec : node.outputs) key += '|' + to_string(spec);
  for (const Tensor& operand : operands) key += '|' + identity_of(operand);
  return find_or_compute(
      key, [&] { return current_executor().run(*node.op, node.attributes, operands, node.outputs, node.where); });
}

std::vector<Tensor> FrozenConstants::find_or_compute(const std::string& key,
                                                     const std::function<std::vector<Tensor>()>& compute) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = results_.find(key);
    if (found != results_.end()) return found->second;
  }
  // Without the lock, since kernels may wait for other threads. If two threads compute the same, the first counts.
  std::vector<Tensor> results = compute();
  const std::lock_guard<std::mutex> lock(mutex_);
  return results_.emplace(key, std::move(results)).first->second;
}

std::size_t FrozenConstants::bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::set<const void*> counted;
  std::size_t bytes = 0;
  const auto count = [&](const Tensor& tensor) {
    if (counted.insert(tensor.raw()).second) bytes += tensor.bytes();
  };
  for (const auto& variable : variables_) count(variable.second.value);
  for (const auto& results : results_) {
    for (const Tensor& tensor : results.second) count(tensor);
  }
  return bytes;
}

std::string identity_of(const Tensor& tensor) { return fmt::format("{} {}", tensor.raw(), tensor.describe()); }

const Tensor* frozen_value(const Node& node) {
  if (!is(node, constant_op()) || !node.attributes.has("frozen")) return nullptr;
  return &node.attributes.get<Tensor>("value");
}

NodePtr frozen_leaf(const Tensor& numbers, const Node& origin) {
  return make_node(constant_op(), {}, {{"value", numbers}, {"frozen", true}}, {{numbers.shape(), numbers.dtype()}},
                   origin);
}

}  // namespace mezzo::detail
