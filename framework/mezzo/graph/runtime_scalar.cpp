#include <mezzo/graph/runtime_scalar.hpp>

#include <fmt/format.h>

#include <array>

namespace mezzo {

std::string to_string(const RuntimeKey& key) {
  constexpr std::array<const char*, 6> names{"step", "epoch", "seed", "learning_rate", "count", "loss_scale"};
  const char* const name = names[static_cast<std::size_t>(key.scalar)];
  return key.scalar < RuntimeScalar::learning_rate ? name : fmt::format("{} of optimizer {}", name, key.optimizer);
}

}  // namespace mezzo
