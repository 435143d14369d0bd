#pragma once
#include <optional>
#include <string>
#include <vector>

#include <mezzo/data/tables/table_column.hpp>

namespace mezzo::detail {

/// Makes a column of strings without a copy.
struct ColumnOfTexts {
  /// Missing texts must be empty.
  static Column make(std::vector<std::string> texts, const std::optional<Tensor>& missing);
};

}  // namespace mezzo::detail
