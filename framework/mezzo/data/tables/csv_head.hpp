#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <mezzo/data/tables/csv_dialect.hpp>
#include <mezzo/data/tables/csv_source.hpp>

namespace mezzo::detail {

/// Start of a table: everything before its first row.
struct CsvHead {
  std::vector<std::string> names;  ///< one for each field
  std::uint64_t offset = 0;        ///< position of the first row or an empty line before it
  std::int64_t line = 1;           ///< line there
  std::int64_t names_line = 0;     ///< line of the record with the number of fields that all records must have
};

/// Reads the start of a table. Sets the separator of the dialect if the options let it be found. Throws FileErrors that
/// start with `where`.
CsvHead read_csv_head(CsvSource& source, const ReadCsvOptions& options, CsvDialect& dialect, const std::string& where);

/// Throws the FileError for a quote without an end in the record of a line.
[[noreturn]] void fail_unclosed(std::int64_t line, const std::string& where);

/// Throws a FileError for a text that isn't UTF-8.
void check_utf8(std::string_view text, const std::string& where, std::int64_t line, const std::string& column);

}  // namespace mezzo::detail
