#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mezzo::detail {

/// One column of a text table.
struct TextColumn {
  std::string title;
  bool numbers = false;  ///< true: aligned to the right
};

/// Formats a table: a line of titles, a rule of dashes, one line per row. Columns are two spaces apart. Every row must
/// have one cell per column.
std::vector<std::string> table_lines(const std::vector<TextColumn>& columns,
                                     const std::vector<std::vector<std::string>>& rows);

/// 1234567 -> "1,234,567".
std::string count_text(std::int64_t number);

/// "12 B", "1.5 GiB".
std::string bytes_text(std::size_t bytes);

}  // namespace mezzo::detail
