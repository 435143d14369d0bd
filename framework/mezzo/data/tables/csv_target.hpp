#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <mezzo/data/tables/csv_columns.hpp>
#include <mezzo/data/tables/table_column.hpp>

namespace mezzo::detail {

/// A column that rows are read into. Threads may write different rows at the same time.
class CsvTarget {
 public:
  /// `seen`: what is known of the column. The type of an inferred column is that of `seen`; a field that needs another
  /// type is refused. The column and the dialect must outlive the target.
  CsvTarget(const CsvColumn& column, const CsvSeen& seen, const CsvDialect& dialect, std::int64_t rows);

  /// Writes a field. False if the type can't hold it.
  bool store(std::string_view field, std::int64_t row) { return (this->*store_)(field, row); }

  /// Writes the field at `at` and returns its end, a separator or line end in [at, end]. Null, if the field isn't a
  /// usual number of its type: then store() is needed.
  const char* store_usual(const char* at, const char* end, std::int64_t row);

  /// Reason why store() refused `field`, after "must": `be a number that fits int64; got "x"`.
  std::string refusal(std::string_view field) const;

  const CsvColumn& column() const { return *column_; }
  bool is_text() const { return type_.kind() == ColumnType::Kind::strings; }

  /// The column, when all rows are written.
  Column finish();

 private:
  template <class T>
  bool store_number(std::string_view field, std::int64_t row);
  template <class T>
  std::optional<T> number(std::string_view field) const;
  template <class T>
  const char* store_usual_number(const char* at, const char* end, std::int64_t row);
  bool store_text(std::string_view field, std::int64_t row);
  bool store_category(std::string_view field, std::int64_t row);
  bool store_boolean(std::string_view field, std::int64_t row);

  const CsvColumn* column_;
  const CsvDialect* dialect_;
  ColumnType type_;
  bool takes_missing_;
  bool may_become_floats_;  // if an integer is missing
  bool keeps_integers_;     // false: floats round them
  bool (CsvTarget::*store_)(std::string_view, std::int64_t);
  const char* (CsvTarget::*store_usual_)(const char*, const char*, std::int64_t) = nullptr;
  Tensor numbers_, missing_;
  void* elements_ = nullptr;
  bool* isna_ = nullptr;
  std::vector<std::string> texts_, categories_;
  std::map<std::string, std::int64_t, std::less<>> codes_;
};

}  // namespace mezzo::detail
