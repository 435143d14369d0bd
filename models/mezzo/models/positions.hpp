#pragma once
#include <cstdint>

#include <mezzo/graph/value.hpp>

// Positions of a sequence.
namespace mezzo::detail {

/// begin, begin + 1, ...: int32 (count,), for a table of positions.
Value position_ids(std::int64_t begin, std::int64_t count);

/// What states (batch, positions, size) have at one position: (batch, size).
Value at_position(const Value& states, std::int64_t position);

}  // namespace mezzo::detail
