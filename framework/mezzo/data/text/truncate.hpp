#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace mezzo::detail {

// Cuts the ends of two sequences to `room` elements together: the longer first, then both to equal lengths, an odd
// one going to the longer; of two that are equally long, to the second. As Hugging Face's `longest_first` does.
inline void truncate_longest_first(std::vector<std::int64_t>& first, std::vector<std::int64_t>& second,
                                   std::int64_t room) {
  const auto total = static_cast<std::size_t>(room);
  const bool swapped = first.size() > second.size();
  std::vector<std::int64_t>& shorter = swapped ? second : first;
  std::vector<std::int64_t>& longer = swapped ? first : second;
  if (shorter.size() + longer.size() <= total) return;
  if (shorter.size() > total / 2) shorter.resize(total / 2);
  longer.resize(total - shorter.size());
}

}  // namespace mezzo::detail
