#include <mezzo/core/edit_distance.hpp>

#include <algorithm>
#include <numeric>

namespace mezzo::detail {

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (const char letter : a) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (letter == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::string nearest_name(const std::string& name, const std::vector<std::string>& names) {
  const std::string start = name.substr(0, 64);  // the time is proportional to the length
  std::string best;
  std::size_t least = 0;
  for (const std::string& other : names) {
    const std::size_t found = edit_distance(start, other);
    if (!best.empty() && found >= least) continue;
    best = other;
    least = found;
  }
  return best;
}

}  // namespace mezzo::detail
