#include <mezzo/cli/tensor_rows.hpp>

#include <cstdint>

#include <fmt/format.h>

namespace mezzo::cli {

std::string one_line(const std::string& text) {
  constexpr std::size_t most = 100;
  std::string line = text.substr(0, most);
  for (char& letter : line) {
    if (static_cast<unsigned char>(letter) < ' ') letter = ' ';
  }
  return line + (line.size() < text.size() ? "..." : "");
}

void print_entries(const std::vector<TensorEntry>& entries) {
  std::uint64_t bytes = 0;
  for (const TensorEntry& entry : entries) {
    fmt::print("{:<40} {:<10} {}\n", one_line(entry.name), detail::type_text(entry), to_string(entry.shape));
    bytes += entry.bytes;
  }
  fmt::print("{} tensor{}, {} bytes\n", entries.size(), entries.size() == 1 ? "" : "s", bytes);
}

}  // namespace mezzo::cli
