#include <mezzo/data/permutation.hpp>

#include <cmath>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include <mezzo/core/random.hpp>

namespace mezzo::detail {
namespace {

constexpr std::uint64_t rounds = 8;

/// Stored order of small sets: Fisher and Yates' shuffle.
std::vector<std::int64_t> stored_order(std::int64_t count, std::uint64_t key, std::int64_t epoch) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  for (std::size_t i = order.size(); i-- > 1;) {
    const auto words = philox(key, i, static_cast<std::uint64_t>(epoch));
    const std::uint64_t word = (std::uint64_t{words[1]} << 32) | words[0];
    std::swap(order[i], order[static_cast<std::size_t>(below(i + 1, word))]);
  }
  return order;
}

}  // namespace

KeyedPermutation::KeyedPermutation(std::int64_t size) : size_(static_cast<std::uint64_t>(size)) {
  if (size_ < 2) return;
  high_ = static_cast<std::uint64_t>(std::ceil(std::sqrt(static_cast<double>(size_))));
  low_ = (size_ + high_ - 1) / high_;
}

std::uint64_t KeyedPermutation::once(std::uint64_t number, std::uint64_t key) const {
  std::uint64_t a = number / low_, b = number % low_;
  for (std::uint64_t round = 0; round < rounds; round += 2) {
    a += below(high_, mix(mix(key, round), b));
    if (a >= high_) a -= high_;
    b += below(low_, mix(mix(key, round + 1), a));
    if (b >= low_) b -= low_;
  }
  return a * low_ + b;
}

std::int64_t KeyedPermutation::at(std::int64_t position, std::uint64_t key) const {
  std::uint64_t number = once(static_cast<std::uint64_t>(position), key);
  while (number >= size_) number = once(number, key);
  return static_cast<std::int64_t>(number);
}

std::function<std::int64_t(std::int64_t)> shuffled(std::int64_t count, std::uint64_t seed, std::int64_t epoch) {
  const std::uint64_t key = mix(seed, key_of("DataLoader"));
  if (count > largest_stored_order) {
    return [permutation = KeyedPermutation(count), key = mix(key, static_cast<std::uint64_t>(epoch))](
               std::int64_t position) { return permutation.at(position, key); };
  }
  auto order = std::make_shared<const std::vector<std::int64_t>>(stored_order(count, key, epoch));
  return [order = std::move(order)](std::int64_t position) { return (*order)[static_cast<std::size_t>(position)]; };
}

}  // namespace mezzo::detail
