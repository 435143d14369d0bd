#include <mezzo/training/ranks/rank_shards.hpp>

#include <algorithm>

namespace mezzo::detail {
namespace {

/// Bytes of the numbers; for a split master, of both halves.
std::int64_t bytes_of(const VariableState& variable) {
  return variable.value.size() * static_cast<std::int64_t>(dtype_size(variable.dtype()));
}

}  // namespace

void RankShards::assign(const Variables& variables) {
  Variables added;
  for (const auto& variable : variables) {
    if (owners_.count(variable.get()) == 0) added.push_back(variable);
  }
  std::stable_sort(added.begin(), added.end(),
                   [](const auto& a, const auto& b) { return bytes_of(*a) > bytes_of(*b); });
  for (const auto& variable : added) {
    const auto lightest = std::min_element(bytes_.begin(), bytes_.end());
    if (!owners_.emplace(variable.get(), static_cast<int>(lightest - bytes_.begin())).second) continue;
    *lightest += bytes_of(*variable);
  }
}

}  // namespace mezzo::detail
