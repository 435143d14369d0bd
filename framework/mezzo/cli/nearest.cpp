#include <mezzo/cli/nearest.hpp>

#include <algorithm>
#include <cstddef>

#include <mezzo/cli/usage_error.hpp>
#include <mezzo/core/edit_distance.hpp>

namespace mezzo::cli {
namespace {

/// Words of a list "a, b, c".
std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  std::size_t begin = 0;
  while (begin < list.size()) {
    const std::size_t end = std::min(list.find(", ", begin), list.size());
    words.push_back(list.substr(begin, end - begin));
    begin = end + 2;
  }
  return words;
}

}  // namespace

std::string with_nearest(const std::string& text) {
  const std::size_t unknown = text.find("unknown ");
  if (unknown == std::string::npos || text.find("; nearest: ", unknown) != std::string::npos) return text;
  const std::size_t open = text.find('"', unknown);
  if (open == std::string::npos) return text;
  const std::size_t close = text.find('"', open + 1);
  for (const std::string mark : {"valid names: ", "known: "}) {
    const std::size_t list = text.find(mark, open);
    if (close == std::string::npos || list == std::string::npos) continue;
    const std::string name = text.substr(open + 1, close - open - 1);
    return text + detail::nearest_text(name, words_of(text.substr(list + mark.size())));
  }
  return text;
}

void fail_unknown_name(const std::string& where, const char* kind, const std::string& name,
                       const std::vector<std::string>& names) {
  fail_usage("{}: unknown {} \"{}\"{}; valid names: {}", where, kind, name, detail::nearest_text(name, names),
             fmt::join(names, ", "));
}

std::string nearest_option(const std::string& name, const std::vector<std::string>& names) {
  const std::string nearest = detail::nearest_name(name, names);
  return nearest.empty() ? "" : "; nearest: --" + nearest;
}

}  // namespace mezzo::cli
