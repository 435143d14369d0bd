#pragma once
#include <cstdint>
#include <optional>

#include <mezzo/data/tables/table_column.hpp>

namespace mezzo::detail {

/// The first row whose value is missing, or nullopt.
inline std::optional<std::int64_t> first_missing(const Column& column) {
  for (std::int64_t row = 0; column.missing() > 0; ++row) {
    if (column.is_missing(row)) return row;
  }
  return std::nullopt;
}

}  // namespace mezzo::detail
