#pragma once
#include <cstdint>

namespace mezzo::detail {

/// Hash with which a cross of features starts: TensorFlow's default key.
constexpr std::uint64_t first_crossed_hash = 0xDECAFCAFFEULL;

/// FingerprintCat64 of TensorFlow, a step of MurmurHash (Appleby, 2008).
inline std::uint64_t joined_hash(std::uint64_t first, std::uint64_t second) {
  constexpr std::uint64_t factor = 0xc6a4a7935bd1e995ULL;
  const auto mixed = [](std::uint64_t x) { return x ^ (x >> 47); };
  std::uint64_t hash = (first ^ factor ^ (mixed(second * factor) * factor)) * factor;
  hash = mixed(hash) * factor;
  return mixed(hash);
}

}  // namespace mezzo::detail
