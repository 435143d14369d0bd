#pragma once
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/data/tables/column_type.hpp>

namespace mezzo {

namespace detail {

/// Place of the names of a table: a record, none, or "infer".
class MEZZO_API CsvHeader {
 public:
  CsvHeader(std::int64_t record) : record_(record) {}
  CsvHeader(int record) : record_(record) {}
  CsvHeader(std::nullopt_t) {}
  /// Throws a NameError for another text than "infer".
  CsvHeader(const char* text);

  bool inferred() const { return inferred_; }
  /// The record, if it is neither none nor inferred.
  std::optional<std::int64_t> record() const { return record_; }

 private:
  bool inferred_ = false;
  std::optional<std::int64_t> record_;
};

/// Types of the columns of a table: one for all, or by name.
class CsvTypes {
 public:
  CsvTypes() = default;
  CsvTypes(DType all) : all_(all) {}
  CsvTypes(const char* all) : all_(all) {}
  CsvTypes(std::initializer_list<std::pair<const std::string, ColumnType>> by_name) : by_name_(by_name) {}
  CsvTypes(std::map<std::string, ColumnType> by_name) : by_name_(std::move(by_name)) {}

  /// The type of a column, if it is given.
  std::optional<ColumnType> of(const std::string& column) const {
    const auto found = by_name_.find(column);
    return found == by_name_.end() ? all_ : found->second;
  }
  bool empty() const { return !all_ && by_name_.empty(); }
  const std::map<std::string, ColumnType>& by_name() const { return by_name_; }

 private:
  std::optional<ColumnType> all_;
  std::map<std::string, ColumnType> by_name_;
};

}  // namespace detail

/// Options of read_csv and CsvReader, with pandas' names and meanings.
struct ReadCsvOptions {
  /// Character between fields. "auto": the one of `,` `;` tab `|` that divides the first records into equally many
  /// fields and has no other meaning.
  std::string sep = ",";
  /// Record with the names of the columns, from 0; records above it are skipped. std::nullopt: there is none.
  /// "infer": 0, or none if `names` is given.
  detail::CsvHeader header = "infer";
  /// Names of the columns, in place of those of the header. One for each field.
  std::vector<std::string> names{};
  /// Columns to read; empty: all. The others are not converted. The table has them in the file's order.
  std::vector<std::string> usecols{};
  /// Types of columns: `DType::float32` for all, or by name `{{"zip", "str"}, {"city", "category"}, {"y",
  /// DType::int32}}`. The others are inferred.
  detail::CsvTypes dtype{};
  /// Further texts of missing values. A number also stands for other texts of it: "-999" for "-999.0".
  std::vector<std::string> na_values{};
  /// False: only the texts of `na_values` are missing values.
  bool keep_default_na = true;
  /// Character of the decimal point. It may be `sep`, for numbers in quotes.
  std::string decimal = ".";
  /// Character between groups of digits; "": none. It may be `sep`, for numbers in quotes: `"1,234"`.
  std::string thousands{};
  /// Character that starts a comment, which ends with the line; "": no comments.
  std::string comment{};
  /// Lines to skip at the beginning, of any content.
  std::int64_t skiprows = 0;
  /// Most rows to read; std::nullopt: all. Types are inferred from these.
  std::optional<std::int64_t> nrows{};
  /// Character around fields that have separators, line ends or quotes, which are written twice; "": none.
  std::string quotechar = "\"";
  /// True: spaces after a separator don't belong to the field.
  bool skipinitialspace = false;
  /// Further texts of true: "yes".
  std::vector<std::string> true_values{};
  /// Further texts of false: "no".
  std::vector<std::string> false_values{};
};

}  // namespace mezzo
