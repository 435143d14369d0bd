#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include <mezzo/data/tables/csv_dialect.hpp>

namespace mezzo::detail {

/// Records of a text, one after the other. Records without fields and comments are left out.
class CsvRecords {
 public:
  /// `text` begins at a record, on line `line`. The character behind its end must be readable and a line end.
  CsvRecords(std::string_view text, const CsvDialect& dialect, std::int64_t line);

  /// Goes to the next record. False at the end of the text, and if a quote doesn't end.
  bool next();

  /// Fields of the record, without quotes. Valid until next().
  const std::vector<std::string_view>& fields() const { return fields_; }
  /// Line on which the record begins.
  std::int64_t line() const { return line_; }
  /// Line behind the record.
  std::int64_t next_line() const { return next_line_; }
  /// Bytes of the text up to the end of the record.
  std::size_t position() const { return static_cast<std::size_t>(at_ - begin_); }
  /// True if the text ends inside of quotes. line() then is the line of the record.
  bool unclosed() const { return unclosed_; }

 private:
  void skip_field();
  bool skip_empty_lines();
  void skip_line_end();
  void skip_line();
  bool read_quoted();
  void append_unquoted(std::string& text);

  const CsvDialect& dialect_;
  const char* begin_;
  const char* at_;
  const char* end_;
  std::array<std::uint64_t, 4> stops_{};  // each character that may end a field, in all bytes
  std::size_t stop_count_ = 0;
  std::int64_t line_ = 0, next_line_;
  bool unclosed_ = false;
  std::vector<std::string_view> fields_;
  std::deque<std::string> changed_;  // fields that differ from the text, in the first `changes_`
  std::size_t changes_ = 0;
};

}  // namespace mezzo::detail
