#pragma once
#include <cstddef>
#include <string>
#include <tuple>

namespace mezzo {

/// Numbers that change from step to step without another plan.
enum class RuntimeScalar {
  step,           ///< training steps taken so far
  epoch,          ///< epochs done so far
  seed,           ///< of seed_everything()
  learning_rate,  ///< of an optimizer, at this step
  count,          ///< updates of an optimizer, this one included
  loss_scale      ///< of an optimizer
};

/// A runtime scalar; the last three kinds belong to the optimizer of that index.
struct RuntimeKey {
  RuntimeScalar scalar = RuntimeScalar::step;
  std::size_t optimizer = 0;

  bool operator==(const RuntimeKey& other) const { return scalar == other.scalar && optimizer == other.optimizer; }
  bool operator<(const RuntimeKey& other) const {
    return std::tie(scalar, optimizer) < std::tie(other.scalar, other.optimizer);
  }
};

/// "step", "learning_rate of optimizer 1".
std::string to_string(const RuntimeKey& key);

}  // namespace mezzo
