#pragma once
#include <array>
#include <cstdint>
#include <string>

namespace mezzo {

/// Seeds all that is random from here on: initial weights, dropout, the order of loaders. The default seed is 0.
void seed_everything(std::uint64_t seed);

/// The seed in force.
std::uint64_t seed();

/// Counts the streams of random numbers that were started since seed_everything: 0, 1, 2, ...
std::uint64_t next_stream();

/// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011): four random words for a
/// 64-bit key and a 128-bit counter. The same on every machine and number of threads, since it has no state.
std::array<std::uint32_t, 4> philox(std::uint64_t key, std::uint64_t counter, std::uint64_t stream = 0);

/// A random word as a number in [0, 1), of 24 bits.
inline float unit_float(std::uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24F; }

/// Two random words as a number in [0, 1), of 53 bits.
inline double unit_double(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t word = (static_cast<std::uint64_t>(high) << 32) | low;
  return static_cast<double>(word >> 11) * 0x1p-53;
}

/// Mixes two words into a key (the finalizer of SplitMix64; Steele et al., OOPSLA 2014).
std::uint64_t mix(std::uint64_t a, std::uint64_t b);

/// A key from a name: FNV-1a, 64 bits.
std::uint64_t key_of(const std::string& name);

}  // namespace mezzo
