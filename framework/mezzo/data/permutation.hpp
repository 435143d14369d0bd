#pragma once
#include <cstdint>
#include <functional>

#include <mezzo/core/api.hpp>

namespace mezzo::detail {

/// Permutations of 0 ... size - 1 that are computed for each position, in constant memory: a Feistel network over two
/// digits of mixed radix. A number outside of the range is permuted again until it is in the range.
class MEZZO_API KeyedPermutation {
 public:
  explicit KeyedPermutation(std::int64_t size);

  std::int64_t size() const { return static_cast<std::int64_t>(size_); }

  /// Number at `position` in [0, size()) of the permutation of that key.
  std::int64_t at(std::int64_t position, std::uint64_t key) const;

 private:
  std::uint64_t once(std::uint64_t number, std::uint64_t key) const;

  std::uint64_t size_;
  std::uint64_t high_ = 1, low_ = 1;  // radices of the digits; their product is size_ or slightly more
};

/// Largest number of samples whose shuffled order is stored. The orders of larger sets are computed.
constexpr std::int64_t largest_stored_order = std::int64_t{1} << 16;

/// Permutation of 0 ... count - 1 that depends only on count, seed and epoch.
MEZZO_API std::function<std::int64_t(std::int64_t position)> shuffled(std::int64_t count, std::uint64_t seed,
                                                                      std::int64_t epoch);

/// A number in [0, count) from 64 random bits, uniform up to a bias of count / 2^64.
inline std::uint64_t below(std::uint64_t count, std::uint64_t word) {
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(word) * count) >> 64);
}

}  // namespace mezzo::detail
