#pragma once
#include <memory>

#include <mezzo/training/module/module.hpp>

namespace mezzo {

namespace detail {
class RankStates;
}

/// Makes the float32 numbers of all weights readable for its lifetime, in hooks of a training with
/// shard_optimizer_states. There a rank has only the bfloat16 halves of weights that another rank updates, and reading
/// their numbers is an error. All ranks must make it at the same place: it copies 2 bytes a number from the ranks that
/// update them. In hooks of callbacks that run at rank 0 alone, the other ranks help by themselves. A ValueError inside
/// of a step. No effect in other trainings.
class MEZZO_API WholeWeights {
 public:
  explicit WholeWeights(Module& module);  ///< gathers the shards of the module's weights; all ranks must call it
  ~WholeWeights();
  WholeWeights(const WholeWeights&) = delete;
  WholeWeights& operator=(const WholeWeights&) = delete;

 private:
  std::shared_ptr<detail::RankStates> states_;  // null: nothing is divided
};

}  // namespace mezzo
