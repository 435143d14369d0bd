#include <mezzo/training/ranks/compare_ranks.hpp>

#include <algorithm>
#include <cstddef>

namespace mezzo::detail {
namespace {

SharedFacts split(const std::string& text) {
  SharedFacts out(1);
  for (const char c : text) {
    if (c == '\n') {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

/// Length of a fact's name and the tab after it; 0 if it has none.
std::size_t name_end(const std::string& fact) { return fact.find('\t') + 1; }

std::string readable(std::string fact) {
  std::replace(fact.begin(), fact.end(), '\t', ' ');
  return fact;
}

}  // namespace

void compare_ranks(Communicator& ranks, const SharedFacts& facts) {
  const std::vector<std::string> all = ranks.gather_texts(fmt::format("{}", fmt::join(facts, "\n")));
  const SharedFacts first = split(all.front());
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all.front()) continue;
    const SharedFacts others = split(all[rank]);
    const auto fact = [](const SharedFacts& of, std::size_t i) {
      return i < of.size() ? of[i] : std::string("nothing");
    };
    std::size_t i = 0;
    while (fact(first, i) == fact(others, i)) ++i;
    const std::string one = fact(others, i), expected = fact(first, i);
    const std::size_t name = name_end(one);
    const bool same_name = expected.compare(0, name, one, 0, name) == 0;
    fail<RankError>("[Trainer]", "all ranks must run the same training; rank {} has {} where rank 0 has {}", rank,
                    readable(one), readable(same_name ? expected.substr(name) : expected));
  }
}

}  // namespace mezzo::detail
