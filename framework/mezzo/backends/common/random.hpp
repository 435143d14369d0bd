#pragma once
#include <cstdint>
#include <cstring>

#include <mezzo/core/bfloat16.hpp>
#include <mezzo/core/convert.hpp>
#include <mezzo/core/random.hpp>

// Random words of kernels: the same numbers from every implementation of an op.
namespace mezzo {

/// The key of philox() for the random words of one node in one step. `key` is the node's attribute; `seed` and `step`
/// are its scalar inputs.
inline std::uint64_t step_stream(std::int64_t key, double seed, double step) {
  const auto word = [](double x) { return static_cast<std::uint64_t>(convert<std::int64_t>(x)); };
  return detail::mix(detail::mix(static_cast<std::uint64_t>(key), word(seed)), word(step));
}

/// x rounded up or down to bfloat16; x on average if the lower 16 bits of `word` are random. The bits are
/// (x + word) & 0xFFFF0000 (Zamirai et al., "Revisiting BFloat16 Training", 2020). NaN becomes a quiet NaN.
inline bfloat16 round_stochastically(float x, std::uint32_t word) {
  if (x != x) return bfloat16(x);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  bfloat16 out;
  out.bits = static_cast<std::uint16_t>((bits + (word & 0xffffU)) >> 16);
  return out;
}

}  // namespace mezzo
