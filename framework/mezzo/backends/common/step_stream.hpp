#pragma once
#include <cstdint>

#include <mezzo/core/convert.hpp>
#include <mezzo/core/random.hpp>

namespace mezzo {

/// The key under which philox gives the random words of one node in one step: the same for every kernel.
inline std::uint64_t step_stream(std::int64_t key, double seed, double step) {
  const auto word = [](double x) { return static_cast<std::uint64_t>(convert<std::int64_t>(x)); };
  return mix(mix(static_cast<std::uint64_t>(key), word(seed)), word(step));
}

}  // namespace mezzo
