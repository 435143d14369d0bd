#pragma once
#include <cstddef>
#include <string>
#include <tuple>

#include <mezzo/core/api.hpp>

namespace mezzo {

namespace detail {
/// Numbers that change between steps without compiling a new plan.
enum class RuntimeScalar {
  step,           ///< training steps taken so far
  epoch,          ///< completed epochs
  batch,          ///< index of the batch in its epoch
  seed,           ///< seed from seed_everything()
  first_sample,   ///< place of the batch's first sample in the batch that the ranks share; 0 for one rank
  sample_share,   ///< share of the batch's samples in that batch; 1 for one rank
  learning_rate,  ///< learning rate of an optimizer at this step
  count,          ///< updates of an optimizer, including this one
  loss_scale      ///< loss scale of an optimizer
};

/// A runtime scalar. `optimizer` is an index, used by the last three kinds only; `earlier` by learning_rate only.
struct RuntimeKey {
  RuntimeScalar scalar = RuntimeScalar::step;
  std::size_t optimizer = 0;
  std::size_t earlier = 0;  ///< number of updates by the optimizer earlier in the step

  bool operator==(const RuntimeKey& other) const {
    return scalar == other.scalar && optimizer == other.optimizer && earlier == other.earlier;
  }
  bool operator<(const RuntimeKey& other) const {
    return std::tie(scalar, optimizer, earlier) < std::tie(other.scalar, other.optimizer, other.earlier);
  }
};
}  // namespace detail

/// "step", "learning_rate of optimizer 1".
MEZZO_API std::string to_string(const detail::RuntimeKey& key);

}  // namespace mezzo
