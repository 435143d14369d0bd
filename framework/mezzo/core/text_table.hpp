#pragma once
#include <string>
#include <vector>

namespace mezzo::detail {

/// A column's title, and whether it holds numbers, which end at the same place.
struct Column {
  std::string title;
  bool numbers = false;
};

/// The lines of a table: titles, a rule, then one per row, columns two spaces apart.
std::vector<std::string> table_lines(const std::vector<Column>& columns,
                                     const std::vector<std::vector<std::string>>& rows);

}  // namespace mezzo::detail
