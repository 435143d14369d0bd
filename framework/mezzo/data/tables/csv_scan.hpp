#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/data/tables/csv_columns.hpp>
#include <mezzo/data/tables/csv_head.hpp>

namespace mezzo::detail {

/// A part of a file that begins and ends between records.
struct CsvPart {
  std::uint64_t offset = 0;
  std::size_t bytes = 0;
  std::int64_t rows = 0;                      ///< records that belong to the table
  std::int64_t line = 1;                      ///< line at the beginning
  std::shared_ptr<const std::string> text{};  ///< the bytes and a line end, if they have been read
  bool is_lines = false;                      ///< each record is a line with fields as they are, without quotes
};

/// Result of the first pass over a table.
struct CsvScan {
  std::vector<CsvPart> parts;
  std::int64_t rows = 0;
  bool line_by_line = true;  ///< row i begins on line `first_line` + i
  std::int64_t first_line = 1;
  std::vector<CsvSeen> seen;  ///< of each column: what its first rows have, or all if they are wanted
};

/// First pass: counts the rows, checks the number of fields of each and finds what the columns have, in all rows or, if
/// that is enough, in the first ones. Throws FileErrors
/// that start with `where`.
CsvScan scan_csv(CsvSource& source, const CsvDialect& dialect, const CsvHead& head,
                 const std::vector<CsvColumn>& columns, std::optional<std::int64_t> nrows, bool all_rows,
                 const std::string& where);

}  // namespace mezzo::detail
