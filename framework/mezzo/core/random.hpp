#pragma once
#include <array>
#include <cstdint>
#include <string>

#include <mezzo/core/api.hpp>

namespace mezzo {

/// Sets the seed of all random numbers from now on: initial weights, dropout, order of loaders. The default seed is 0.
MEZZO_API void seed_everything(std::uint64_t seed);

/// The current seed.
MEZZO_API std::uint64_t seed();

namespace detail {
/// Starts a stream of random numbers and returns its number since seed_everything(): 0, 1, 2, ...
MEZZO_API std::uint64_t next_stream();

/// Starts a stream of random numbers and returns a seed for it: an integer that a double holds exactly.
MEZZO_API double next_seed();
}  // namespace detail

/// Returns four random words for a 64-bit key and a 128-bit counter: Philox4x32-10 (Salmon et al., "Parallel random
/// numbers: as easy as 1, 2, 3", SC 2011). It has no state, so that results are equal on every machine and for any
/// number of threads.
MEZZO_API std::array<std::uint32_t, 4> philox(std::uint64_t key, std::uint64_t counter, std::uint64_t stream = 0);

/// Converts a random word to a number in [0, 1) with 24 bits.
inline float unit_float(std::uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24F; }

/// Converts two random words to a number in [0, 1) with 53 bits.
inline double unit_double(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t word = (static_cast<std::uint64_t>(high) << 32) | low;
  return static_cast<double>(word >> 11) * 0x1p-53;
}

namespace detail {
/// Mixes two words into a key (the finalizer of SplitMix64; Steele et al., OOPSLA 2014).
MEZZO_API std::uint64_t mix(std::uint64_t a, std::uint64_t b);

/// Hashes a name to a key (FNV-1a, 64 bits).
MEZZO_API std::uint64_t key_of(const std::string& name);
}  // namespace detail

}  // namespace mezzo
