#include <mezzo/core/edit_distance.hpp>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

namespace mezzo::detail {
namespace {

std::string lower(std::string text) {
  for (char& letter : text) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return text;
}

/// First letters of the words in "two_words", "two-words" or "TwoWords", in lower case.
std::string initials(const std::string& name) {
  std::string letters;
  bool begins = true;
  for (const char letter : name) {
    const bool separates = std::isalnum(static_cast<unsigned char>(letter)) == 0;
    if (!separates && (begins || std::isupper(static_cast<unsigned char>(letter)) != 0)) letters += letter;
    begins = separates;
  }
  return lower(letters);
}

/// Changes from `name`, in lower case, to `other`; less if one is a part of the other, or initials of it.
std::size_t changes(const std::string& name, const std::string& other) {
  constexpr std::size_t shortest_part = 3, shortest_initials = 2;
  const std::string valid = lower(other);
  const std::size_t changed = edit_distance(name, valid);
  const std::string& part = name.size() < valid.size() ? name : valid;
  const bool holds = (name.size() < valid.size() ? valid : name).find(part) != std::string::npos;
  const bool alike =
      (part.size() >= shortest_part && holds) || (name.size() >= shortest_initials && name == initials(other));
  return alike ? std::min<std::size_t>(changed, 1) : changed;
}

/// Changes that a misspelled name of so many bytes may have. With more it is another word.
std::size_t most_changes(std::size_t size) { return size < 2 ? 0 : std::max<std::size_t>(size / 3, 1); }

}  // namespace

std::size_t edit_distance(const std::string& a, const std::string& b) {
  // Changes from the beginning of a, of i letters, of i - 1 and of i - 2, to each beginning of b.
  std::vector<std::size_t> row(b.size() + 1), last, before_last;
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({changed, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row.back();
}

std::string nearest_name(const std::string& name, const std::vector<std::string>& names) {
  const std::string start = lower(name.substr(0, 64));  // the time is proportional to the length
  // Equal changes: a name with the same first letter wins.
  std::size_t fewest = 2 * (most_changes(start.size()) + 1);
  std::string best;
  for (const std::string& other : names) {
    const std::size_t found = 2 * changes(start, other) + (other.substr(0, 1) == name.substr(0, 1) ? 0 : 1);
    if (found >= fewest) continue;
    best = other;
    fewest = found;
  }
  return best;
}

std::string nearest_text(const std::string& name, const std::vector<std::string>& names) {
  const std::string nearest = nearest_name(name, names);
  return nearest.empty() ? "" : "; nearest: \"" + nearest + "\"";
}

}  // namespace mezzo::detail
