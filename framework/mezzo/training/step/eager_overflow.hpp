#pragma once
#include <optional>

#include <mezzo/compiler/overflow.hpp>

namespace mezzo::detail {

/// Non-finite values of an eager trace, whose nodes all have numbers.
Overflows overflows_in(const Graph& graph);

/// First non-finite value that closed a group's gate in an eager trace, whose nodes all have numbers. None if no gate
/// of the group is closed, or if no node of the trace explains it.
std::optional<Overflow> overflow_of(const Graph& graph, int group);

}  // namespace mezzo::detail
