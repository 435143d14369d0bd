#include <mezzo/data/tables/csv_records.hpp>

#include <bit>
#include <cstring>

namespace mezzo::detail {

namespace {

constexpr std::uint64_t every_byte = 0x0101010101010101;

/// The highest bit of each byte that is 0; bytes above such a byte may be wrong.
std::uint64_t zero_bytes(std::uint64_t x) { return (x - every_byte) & ~x & (0x80 * every_byte); }

}  // namespace

CsvRecords::CsvRecords(std::string_view text, const CsvDialect& dialect, std::int64_t line)
    : dialect_(dialect), begin_(text.data()), at_(begin_), end_(begin_ + text.size()), next_line_(line) {
  for (const char c : {dialect.sep, '\n', '\r', dialect.comment.value_or('\n')}) {
    stops_[stop_count_++] = every_byte * static_cast<unsigned char>(c);
  }
}

/// Goes to the next character that may end a field without quotes, at the line end behind the text at the latest.
void CsvRecords::skip_field() {
  while (std::endian::native == std::endian::little && end_ - at_ >= 8) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, at_, sizeof bytes);
    std::uint64_t found = 0;
    for (const std::uint64_t stop : stops_) found |= zero_bytes(bytes ^ stop);
    if (found != 0) {
      at_ += std::countr_zero(found) / 8;
      return;
    }
    at_ += 8;
  }
  while (!dialect_.stops[static_cast<unsigned char>(*at_)]) ++at_;
}

void CsvRecords::skip_line_end() {
  if (at_ == end_) return;
  if (*at_ == '\r' && at_ + 1 != end_ && at_[1] == '\n') ++at_;
  ++at_;
  ++next_line_;
}

void CsvRecords::skip_line() {
  while (at_ != end_ && *at_ != '\n' && *at_ != '\r') ++at_;
  skip_line_end();
}

/// False at the end of the text.
bool CsvRecords::skip_empty_lines() {
  while (true) {
    const char* p = at_;
    while (p != end_ && (*p == ' ' || *p == '\t') && *p != dialect_.sep) ++p;
    if (p == end_) {
      at_ = end_;
      return false;
    }
    if (*p == '\n' || *p == '\r') {
      at_ = p;
      skip_line_end();
    } else if (dialect_.comment && *p == *dialect_.comment) {
      skip_line();
    } else {
      return true;
    }
  }
}

void CsvRecords::append_unquoted(std::string& text) {
  const char* from = at_;
  while (at_ != end_ && !dialect_.stops[static_cast<unsigned char>(*at_)]) ++at_;
  text.append(from, at_);
}

/// Reads a field that begins with a quote. False if the quote doesn't end.
bool CsvRecords::read_quoted() {
  const char quote = *dialect_.quote;
  const char* from = ++at_;
  std::string* changed = nullptr;
  while (true) {
    const auto* close = static_cast<const char*>(std::memchr(at_, quote, static_cast<std::size_t>(end_ - at_)));
    if (close == nullptr) return false;
    for (const char* p = at_; p != close; ++p) {
      if (*p == '\n' || (*p == '\r' && p[1] != '\n')) ++next_line_;
    }
    at_ = close + 1;
    const bool twice = at_ != end_ && *at_ == quote;
    const bool ends = at_ == end_ || dialect_.stops[static_cast<unsigned char>(*at_)];
    if (ends && changed == nullptr) {
      fields_.emplace_back(from, static_cast<std::size_t>(close - from));
      return true;
    }
    if (changed == nullptr) {
      if (changes_ == changed_.size()) changed_.emplace_back();
      changed = &changed_[changes_++];
      changed->clear();
    }
    changed->append(from, close);
    if (!twice) {
      append_unquoted(*changed);
      fields_.emplace_back(*changed);
      return true;
    }
    *changed += quote;
    from = ++at_;
  }
}

bool CsvRecords::next() {
  fields_.clear();
  changes_ = 0;
  if (!skip_empty_lines()) return false;
  line_ = next_line_;
  while (true) {
    while (dialect_.skip_space && at_ != end_ && *at_ == ' ') ++at_;
    if (at_ != end_ && dialect_.quote && *at_ == *dialect_.quote) {
      if (!read_quoted()) {
        unclosed_ = true;
        at_ = end_;
        return false;
      }
    } else {
      const char* from = at_;
      skip_field();
      fields_.emplace_back(from, static_cast<std::size_t>(at_ - from));
    }
    if (at_ == end_) return true;
    if (*at_ != dialect_.sep) break;
    ++at_;
  }
  skip_line();
  return true;
}

}  // namespace mezzo::detail
