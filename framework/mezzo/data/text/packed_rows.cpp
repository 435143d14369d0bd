#include <mezzo/data/text/packed_rows.hpp>

#include <algorithm>
#include <map>
#include <numeric>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {
namespace {

/// Parts of at most `length` tokens, by text.
std::vector<PackedPart> parts_of(const std::vector<std::int64_t>& text_lengths, std::int64_t length) {
  std::vector<PackedPart> parts;
  for (std::size_t text = 0; text < text_lengths.size(); ++text) {
    for (std::int64_t begin = 0; begin < text_lengths[text]; begin += length) {
      parts.push_back(
          {static_cast<std::int64_t>(text), begin, std::min(length, text_lengths[text] - begin), text_lengths[text]});
    }
  }
  return parts;
}

}  // namespace

PackingStrategy packing_strategy(const std::string& name, const std::string& where) {
  if (name == "wrapped") return PackingStrategy::wrapped;
  if (name == "best_fit") return PackingStrategy::best_fit;
  if (name == "padded") return PackingStrategy::padded;
  fail_unknown(where, "strategy", name, {"best_fit", "padded", "wrapped"});
}

PackedRows::PackedRows(const std::vector<std::int64_t>& text_lengths, std::int64_t length, PackingStrategy strategy) {
  if (strategy == PackingStrategy::wrapped) {
    wrap(text_lengths, length);
  } else if (strategy == PackingStrategy::best_fit) {
    fit(parts_of(text_lengths, length), length);
  } else {
    parts_ = parts_of(text_lengths, length);
    for (std::size_t i = 1; i <= parts_.size(); ++i) begins_.push_back(i);
  }
}

std::vector<PackedPart> PackedRows::row(std::int64_t index) const {
  const auto at = static_cast<std::size_t>(index);
  const auto begin = parts_.begin();
  return {begin + static_cast<std::ptrdiff_t>(begins_[at]), begin + static_cast<std::ptrdiff_t>(begins_[at + 1])};
}

void PackedRows::wrap(const std::vector<std::int64_t>& text_lengths, std::int64_t length) {
  std::int64_t room = length;
  for (std::size_t text = 0; text < text_lengths.size(); ++text) {
    const std::int64_t whole = text_lengths[text];
    for (std::int64_t begin = 0; begin < whole;) {
      const std::int64_t count = std::min(room, whole - begin);
      parts_.push_back({static_cast<std::int64_t>(text), begin, count, whole});
      begin += count;
      room -= count;
      if (room > 0) continue;
      begins_.push_back(parts_.size());
      room = length;
    }
  }
  if (room < length) begins_.push_back(parts_.size());
}

/// Best-fit decreasing: each part, longest first, goes to the row with the least room that it fits in.
void PackedRows::fit(const std::vector<PackedPart>& parts, std::int64_t length) {
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return parts[a].count > parts[b].count; });
  std::vector<std::vector<std::size_t>> rows;
  std::map<std::int64_t, std::vector<std::size_t>> open;  // rows by their room
  for (const std::size_t i : order) {
    const auto found = open.lower_bound(parts[i].count);
    std::int64_t room = length;
    std::size_t row = rows.size();
    if (found == open.end()) {
      rows.emplace_back();
    } else {
      room = found->first;
      row = found->second.back();
      found->second.pop_back();
      if (found->second.empty()) open.erase(found);
    }
    rows[row].push_back(i);
    if (room > parts[i].count) open[room - parts[i].count].push_back(row);
  }
  for (std::vector<std::size_t>& row : rows) {
    std::sort(row.begin(), row.end());
    for (const std::size_t i : row) parts_.push_back(parts[i]);
    begins_.push_back(parts_.size());
  }
}

}  // namespace mezzo::detail
