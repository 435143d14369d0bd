#pragma once
#include <cstddef>
#include <optional>

#include <mezzo/graph/insert.hpp>
#include <mezzo/graph/runtime_scalar.hpp>

namespace mezzo::detail {

// A group of weights with a learning rate of its own has a runtime scalar whose index follows those of the optimizers.

/// Learning rate of a group as a Value of the step.
inline Value group_rate(std::size_t optimizers, std::size_t group) {
  return runtime_scalar(RuntimeScalar::learning_rate, optimizers + group);
}

/// Group whose learning rate a key names; none for the rate of an optimizer.
inline std::optional<std::size_t> group_of(const RuntimeKey& key, std::size_t optimizers) {
  return key.optimizer < optimizers ? std::nullopt : std::optional(key.optimizer - optimizers);
}

}  // namespace mezzo::detail
