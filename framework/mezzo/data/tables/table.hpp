#pragma once
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/data/tables/fill_value.hpp>
#include <mezzo/data/tables/table_column.hpp>

namespace mezzo {

namespace detail {
class CsvFile;

/// Lines of a file from which the rows of a table were read.
struct RowLines {
  std::string file{};                ///< "": no file
  std::int64_t first = 0;            ///< line of row 0, if each row is one line
  std::vector<std::int64_t> each{};  ///< line of each row, otherwise
};
}  // namespace detail

/// Columns of equal length with names, as pandas' DataFrame: `table["age"].missing()`. Made by read_csv() or from
/// arrays. Copies share the columns.
class MEZZO_API Table {
 public:
  /// A table without columns.
  Table() = default;

  /// A table of columns: `Table({{"age", ages}, {"city", Strings{"Lyon", "Oslo"}}})`. Throws a ShapeError if their
  /// lengths differ, a ValueError if two names are equal.
  Table(std::vector<std::pair<std::string, Column>> columns);

  /// Number of rows.
  std::int64_t rows() const { return rows_; }

  /// Names of the columns, in order.
  const std::vector<std::string>& columns() const { return names_; }

  /// True if there is a column of this name.
  bool contains(const std::string& column) const;

  /// A column. Throws a NameError with the valid names if there is none of this name.
  const Column& operator[](const std::string& column) const;

  /// Columns of these names, in this order. Throws as operator[].
  Table select(const std::vector<std::string>& columns) const;

  /// The table with this column at the end, or in place of the one of its name. Throws a ShapeError for another length.
  Table assign(const std::string& name, const Column& column) const;

  /// The rows [begin, end). Throws a ValueError unless 0 <= begin <= end <= rows().
  Table range(std::int64_t begin, std::int64_t end) const;

  /// The rows of these numbers, in their order. Throws a ValueError if there is no such row.
  Table take(const std::vector<std::int64_t>& rows) const;

  /// The rows in which nothing is missing, in these columns; none given: in all.
  Table dropna(const std::vector<std::string>& columns = {}) const;

  /// The table with other values in place of the missing ones: `table.fillna({{"age", 30}, {"city", "?"}})`. Throws
  /// the errors of Column::fillna().
  Table fillna(const std::map<std::string, detail::FillValue>& values) const;

  /// Numbers of columns as an array (rows, columns); none given: of all columns. Missing values are NaN. Throws an
  /// error that names row, line and column for strings and categories (a DTypeError), for a value that the dtype can't
  /// hold, and for a missing value if the dtype is no float (a ValueError).
  Tensor to_tensor(const std::vector<std::string>& columns = {}, DType dtype = DType::float32) const;

  /// Line of the file from which a row was read, from 1; 0 if there is no file. Throws a ValueError if there is no such
  /// row.
  std::int64_t line(std::int64_t row) const;

  /// A row for errors: `row 2 (line 4 of "a.csv")`.
  std::string describe_row(std::int64_t row) const;

 private:
  friend class detail::CsvFile;
  std::vector<std::string> names_;
  std::vector<Column> columns_;
  std::int64_t rows_ = 0;
  detail::RowLines lines_;
};

/// Prints names, types, counts of missing values and the first rows.
MEZZO_API std::ostream& operator<<(std::ostream& out, const Table& table);

}  // namespace mezzo
