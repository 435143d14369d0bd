#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <mezzo/data/tables/csv_buffer.hpp>
#include <mezzo/data/tables/csv_scan.hpp>
#include <mezzo/data/tables/csv_source.hpp>
#include <mezzo/data/tables/csv_target.hpp>
#include <mezzo/data/tables/read_csv_options.hpp>
#include <mezzo/data/tables/table.hpp>

namespace mezzo::detail {

/// Names of the columns of a file. Reads only its start.
std::vector<std::string> csv_names(const std::string& path, const ReadCsvOptions& options, const std::string& where);

/// A position among the rows of a file.
struct CsvPosition {
  std::int64_t row = 0;
  std::size_t part = 0;            ///< the next part that isn't begun
  std::optional<CsvPart> begun{};  ///< the rest of a part
};

/// A table in a file, whose rows are read in order. Errors start with `where`.
class CsvFile {
 public:
  /// First pass: finds the rows. With `chunks` it also finds the types; otherwise read_all() does.
  CsvFile(const std::string& path, const ReadCsvOptions& options, const std::string& where, bool chunks = false);

  std::int64_t rows() const { return scan_.rows; }
  /// Names of the columns that are read.
  std::vector<std::string> columns() const;

  /// The next `count` rows, or fewer at the end, of a file that is read in chunks. Advances the position,
  /// except if it throws an error.
  Table read(std::int64_t count, CsvPosition& from);

  /// All rows. Columns with a field that the type of the first rows can't hold are read again.
  Table read_all();

 private:
  /// Fields of an inferred column that its type doesn't hold.
  struct Refused {
    CsvSeen seen;
    std::int64_t line = 0;  // of the first one; 0: none
    std::string text;       // of the error

    void add(const Refused& other);
  };
  using AllRefused = std::vector<Refused>;  // one for each target

  void choose_columns(const ReadCsvOptions& options);
  std::vector<CsvTarget> targets_of(const std::vector<std::size_t>& columns, std::int64_t rows) const;
  void read_part(const CsvPart& part, char* to);
  AllRefused fill(std::vector<CsvPart>& parts, std::int64_t count, std::vector<CsvTarget>& targets, RowLines& lines);
  void convert_part(CsvPart& part, CsvBuffer& buffer, std::int64_t rows, std::int64_t to,
                    std::vector<CsvTarget>& targets, RowLines& lines, AllRefused& refused);
  CsvPart convert(std::string_view text, const CsvPart& part, std::int64_t rows, std::int64_t to,
                  std::vector<CsvTarget>& targets, RowLines& lines, AllRefused& refused) const;
  void convert_lines(std::string_view text, const CsvPart& part, std::int64_t to, std::vector<CsvTarget>& targets,
                     RowLines& lines, AllRefused& refused) const;
  void store(CsvTarget& target, std::string_view field, std::int64_t row, std::int64_t line, Refused& refused) const;
  RowLines lines_of(std::int64_t first, std::int64_t rows) const;
  [[noreturn]] void fail_refused(const CsvColumn& column, const Refused& refused) const;
  Table table_of(std::vector<std::pair<std::string, Column>> columns, std::int64_t rows, RowLines lines) const;

  const std::string path_, where_;
  CsvSource source_;
  CsvDialect dialect_;
  CsvHead head_;
  std::vector<CsvColumn> columns_;
  CsvScan scan_;
};

}  // namespace mezzo::detail
