#include <mezzo/data/tables/csv_split.hpp>

#include <mezzo/data/tables/csv_records.hpp>

namespace mezzo::detail {
namespace {

/// End of the line end at `at`, or npos if it may go on behind the text.
std::size_t behind_line_end(std::string_view text, std::size_t at, bool last) {
  if (text[at] == '\n') return at + 1;
  if (at + 1 == text.size()) return last ? text.size() : std::string_view::npos;
  return at + (text[at + 1] == '\n' ? 2 : 1);
}

std::vector<std::size_t> split_lines(std::string_view text, std::size_t part_bytes, bool last) {
  std::vector<std::size_t> ends;
  const char* const line_ends = "\r\n";
  std::size_t begin = 0;
  while (text.size() - begin > part_bytes) {
    const std::size_t found = text.find_first_of(line_ends, begin + part_bytes);
    const std::size_t end = found == std::string_view::npos ? found : behind_line_end(text, found, last);
    if (end == std::string_view::npos) break;
    ends.push_back(end);
    begin = end;
  }
  if (last) {
    if (begin < text.size()) ends.push_back(text.size());
    return ends;
  }
  std::size_t found = text.find_last_of(line_ends);
  if (found != std::string_view::npos && text[found] == '\r' && found + 1 == text.size()) {
    found = found == 0 ? std::string_view::npos : text.find_last_of(line_ends, found - 1);
  }
  if (found != std::string_view::npos && found + 1 > begin) ends.push_back(found + 1);
  return ends;
}

std::vector<std::size_t> split_quoted(std::string_view text, const CsvDialect& dialect, std::size_t part_bytes,
                                      bool last) {
  std::vector<std::size_t> ends;
  CsvRecords records(text, dialect, 0);
  std::size_t begin = 0, whole = 0;
  while (records.next() && records.position() < text.size()) {
    whole = records.position();
    if (whole - begin < part_bytes) continue;
    ends.push_back(whole);
    begin = whole;
  }
  if (last) whole = text.size();
  if (whole > begin) ends.push_back(whole);
  return ends;
}

}  // namespace

std::vector<std::size_t> split_records(std::string_view text, const CsvDialect& dialect, std::size_t part_bytes,
                                       bool last) {
  if (dialect.quote && text.find(*dialect.quote) != std::string_view::npos) {
    return split_quoted(text, dialect, part_bytes, last);
  }
  return split_lines(text, part_bytes, last);
}

}  // namespace mezzo::detail
