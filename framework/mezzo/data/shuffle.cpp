#include <mezzo/data/shuffle.hpp>

#include <numeric>
#include <utility>

#include <mezzo/core/random.hpp>

namespace mezzo::detail {

std::vector<std::int64_t> shuffled(std::int64_t count, std::uint64_t seed, std::int64_t epoch) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const std::uint64_t key = mix(seed, key_of("DataLoader"));
  for (std::size_t i = order.size(); i-- > 1;) {
    const auto words = philox(key, i, static_cast<std::uint64_t>(epoch));
    const std::uint64_t word = (std::uint64_t{words[1]} << 32) | words[0];
    // The upper half of the product is uniform in [0, i] up to a bias of i / 2^64.
    const auto other = static_cast<std::size_t>((static_cast<unsigned __int128>(word) * (i + 1)) >> 64);
    std::swap(order[i], order[other]);
  }
  return order;
}

}  // namespace mezzo::detail
