#include <mezzo/core/text_table.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace mezzo::detail {

std::vector<std::string> table_lines(const std::vector<TextColumn>& columns,
                                     const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    widths.push_back(columns[i].title.size());
    for (const auto& row : rows) widths[i] = std::max(widths[i], row[i].size());
  }
  const auto line = [&](const auto& cell) {  // cell(i) is the text of column i
    std::string text;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string& content = cell(i);
      const std::string space(widths[i] - content.size(), ' ');
      text += (i > 0 ? "  " : "") + (columns[i].numbers ? space + content : content + space);
    }
    return text.erase(text.find_last_not_of(' ') + 1);
  };
  std::vector<std::string> lines{line([&](std::size_t i) -> const std::string& { return columns[i].title; })};
  lines.emplace_back(lines.front().size(), '-');
  for (const auto& row : rows) lines.push_back(line([&](std::size_t i) -> const std::string& { return row[i]; }));
  return lines;
}

std::string count_text(std::int64_t number) {
  std::string text = fmt::to_string(number);
  for (std::size_t i = text.size(); i > 3;) text.insert(i -= 3, 1, ',');
  return text;
}

std::string bytes_text(std::size_t bytes) {
  const char* units[] = {"KiB", "MiB", "GiB"};
  double number = static_cast<double>(bytes) / 1024;
  if (number < 1) return fmt::format("{} B", bytes);
  std::size_t unit = 0;
  for (; number >= 1024 && unit < 2; ++unit) number /= 1024;
  return fmt::format("{:.1f} {}", number, units[unit]);
}

}  // namespace mezzo::detail
