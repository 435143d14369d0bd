#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/node.hpp>

namespace mezzo::detail {

/// Numbers of frozen graphs: of variables, and of what is computed from them alone. May be used by several threads.
/// Arrays share the memory of the variables until these are written to.
class MEZZO_API FrozenConstants {
 public:
  FrozenConstants() = default;
  FrozenConstants(const FrozenConstants&) = delete;
  FrozenConstants& operator=(const FrozenConstants&) = delete;

  /// The variable's numbers at the first call with it.
  Tensor value_of(const std::shared_ptr<VariableState>& variable);

  /// The array with these bytes of an earlier call, or the tensor itself.
  Tensor shared(const Tensor& tensor);

  /// Outputs of the node for these operands, computed at the first call.
  std::vector<Tensor> results_of(const Node& node, const std::vector<Tensor>& operands);

  /// The results of compute() at the first call with this key.
  std::vector<Tensor> find_or_compute(const std::string& key, const std::function<std::vector<Tensor>()>& compute);

  /// Bytes of all arrays. Arrays of one memory count once.
  std::size_t bytes() const;

 private:
  struct Kept {
    std::shared_ptr<VariableState> variable;  // keeps the address in use
    Tensor value;
  };

  mutable std::mutex mutex_;
  std::unordered_map<const VariableState*, Kept> variables_;
  std::unordered_map<std::string, std::vector<Tensor>> results_;
};

/// Text that identifies the array by its memory. The array must outlive the text's use.
std::string identity_of(const Tensor& tensor);

/// The numbers of a leaf of freeze(); null for other nodes.
MEZZO_API const Tensor* frozen_value(const Node& node);

/// A leaf with these numbers, as freeze() makes them.
NodePtr frozen_leaf(const Tensor& numbers, const Node& origin);

}  // namespace mezzo::detail
