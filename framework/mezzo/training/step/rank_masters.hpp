#pragma once
#include <functional>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include <mezzo/compiler/pipeline.hpp>
#include <mezzo/distributed/communicator.hpp>
#include <mezzo/training/module/module.hpp>
#include <mezzo/training/ranks/rank_shards.hpp>

namespace mezzo::detail {

/// Divided masters of a fit with shard_optimizer_states. All ranks have the bfloat16 halves of these weights, with
/// which they compute. The rank that updates a weight has the remainder, too. All ranks make the same calls.
class RankMasters {
 public:
  RankMasters(std::shared_ptr<Communicator> communicator, std::shared_ptr<RankShards> shards)
      : communicator_(std::move(communicator)), shards_(std::move(shards)) {}

  /// Splits the weights that these steps read in bfloat16 alone, which become divided. `steps` traces them.
  void split(const Module& module, const PipelineOptions& passes, const std::function<std::vector<Graph>()>& steps);

  bool divides(const VariableState& weight) const { return divided_.count(&weight) == 1; }

  /// A ValueError for a step that reads a remainder of another rank.
  void require_readable(const Graph& step) const;

  /// Frees the remainders of other ranks.
  void drop_others() const;

  /// Copies the remainders to rank 0, or to all ranks.
  void collect(bool at_all) const;

  /// Makes the weights whole at all ranks. Those whose optimizers don't split them become float32 arrays.
  void join(const OptimizerConfigs& optimizers);

 private:
  std::shared_ptr<Communicator> communicator_;
  std::shared_ptr<RankShards> shards_;
  std::vector<Variable> weights_;
  std::set<const VariableState*> divided_;
};

}  // namespace mezzo::detail
