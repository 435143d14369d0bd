#include <mezzo/training/strategies/rank_shards.hpp>

#include <algorithm>

namespace mezzo::detail {

void RankShards::assign(const Variables& variables) {
  Variables added;
  for (const auto& variable : variables) {
    if (owners_.count(variable.get()) == 0) added.push_back(variable);
  }
  std::stable_sort(added.begin(), added.end(),
                   [](const auto& a, const auto& b) { return a->value.bytes() > b->value.bytes(); });
  for (const auto& variable : added) {
    const auto lightest = std::min_element(bytes_.begin(), bytes_.end());
    if (!owners_.emplace(variable.get(), static_cast<int>(lightest - bytes_.begin())).second) continue;
    *lightest += static_cast<std::int64_t>(variable->value.bytes());
  }
}

}  // namespace mezzo::detail
