#pragma once
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include <mezzo/graph/variable_state.hpp>

namespace mezzo::detail {

/// Ranks that update the weights under shard_optimizer_states: whole weights, so that each rank has about as many
/// bytes. Equal at all ranks, which must make the same calls.
class RankShards {
 public:
  using Variables = std::vector<std::shared_ptr<VariableState>>;

  explicit RankShards(int ranks) : bytes_(static_cast<std::size_t>(ranks)) {}

  /// Assigns each weight that has no rank yet to the rank with the fewest bytes, large weights first.
  void assign(const Variables& variables);

  /// Rank of a weight that was assigned.
  int owner(const VariableState& variable) const { return owners_.at(&variable); }

  /// Rank of a weight, or another number if it wasn't assigned.
  int owner_or(const VariableState& variable, int otherwise) const {
    const auto found = owners_.find(&variable);
    return found == owners_.end() ? otherwise : found->second;
  }

 private:
  std::vector<std::int64_t> bytes_;  // by rank
  std::unordered_map<const VariableState*, int> owners_;
};

}  // namespace mezzo::detail
