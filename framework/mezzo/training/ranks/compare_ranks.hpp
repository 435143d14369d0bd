#pragma once
#include <string>
#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/distributed/communicator.hpp>

namespace mezzo::detail {

/// Facts about a rank that must be equal at all ranks: texts without line breaks.
using SharedFacts = std::vector<std::string>;

/// A fact with a name. If ranks have different values for a name, the error has the name once.
template <class T>
std::string shared_fact(const std::string& name, const T& value) {
  return fmt::format("{}\t{}", name, value);
}

/// Throws a RankError at all ranks unless they have the same facts. It names the first rank that differs, and the
/// first fact.
void compare_ranks(Communicator& ranks, const SharedFacts& facts);

}  // namespace mezzo::detail
