#pragma once
#include <algorithm>
#include <vector>

#include <mezzo/distributed/communicator.hpp>
#include <mezzo/graph/variable_state.hpp>

namespace mezzo::detail {

/// Variables by rank. Null: an array that this rank neither sends nor receives.
using RankVariableLists = std::vector<std::vector<VariableState*>>;

/// Sends arrays in rounds, one array of each rank in a round: `start` starts a round. Returns the bytes.
template <class Start>
std::size_t send_in_rounds(const RankVariableLists& of_ranks, const Start& start) {
  std::size_t rounds = 0, bytes = 0;
  for (const auto& states : of_ranks) rounds = std::max(rounds, states.size());
  std::vector<RankRequest> requests;
  for (std::size_t round = 0; round < rounds; ++round) {
    std::vector<RankArray> parts;
    for (const auto& states : of_ranks) {
      const bool has = round < states.size() && states[round] != nullptr;
      parts.push_back(
          has ? RankArray{states[round]->value.mutable_raw(), states[round]->value.size(), states[round]->value.dtype()}
              : RankArray{});
      if (has) bytes += states[round]->value.bytes();
    }
    requests.push_back(start(parts));
  }
  for (const RankRequest& request : requests) request.wait();
  return bytes;
}

}  // namespace mezzo::detail
