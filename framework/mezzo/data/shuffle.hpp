#pragma once
#include <cstdint>
#include <vector>

namespace mezzo::detail {

// A permutation of 0 ... count - 1, fixed by (seed, epoch).
std::vector<std::int64_t> shuffled(std::int64_t count, std::uint64_t seed, std::int64_t epoch);

}  // namespace mezzo::detail
