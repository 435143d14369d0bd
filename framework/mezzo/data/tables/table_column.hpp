#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/tensor.hpp>
#include <mezzo/data/tables/column_type.hpp>
#include <mezzo/data/tables/fill_value.hpp>
#include <mezzo/data/text/strings.hpp>

namespace mezzo {

namespace detail {
struct ColumnOfTexts;
}  // namespace detail

/// A column of a Table: numbers, strings or categories, some of which may be missing. Copies share their elements.
class MEZZO_API Column {
 public:
  /// An empty column of strings.
  Column();

  /// Numbers, shape (rows,). `missing`, bool (rows,), is true where a value is missing; a NaN always is missing. Throws
  /// a ShapeError for other shapes, a DTypeError unless `missing` is bool.
  Column(Tensor values, const std::optional<Tensor>& missing = std::nullopt);

  /// Strings, shape (rows,).
  Column(const Strings& values, const std::optional<Tensor>& missing = std::nullopt);

  /// Categories by their number, int64 (rows,); -1: missing. Throws a ValueError for a number that is no category's and
  /// for equal categories.
  static Column categorical(Tensor codes, std::vector<std::string> categories);

  /// Number of rows.
  std::int64_t size() const { return size_; }

  /// Name of the type, as in pandas: "int64", "float64", "bool", "str", "category" or another dtype.
  std::string type() const { return type_.name(); }

  /// Number of missing values.
  std::int64_t missing() const { return missing_count_; }

  /// bool (rows,): true where a value is missing, as pandas' isna().
  Tensor isna() const;

  /// True if the value of a row is missing. Throws a ValueError if there is no such row.
  bool is_missing(std::int64_t row) const;

  /// The numbers, or the codes of categories, shape (rows,). Missing values are NaN in floats, -1 in codes, else 0.
  /// Throws a DTypeError for strings.
  const Tensor& values() const;

  /// The strings, or the categories of the rows, shape (rows,); "" where they are missing. Throws a DTypeError for
  /// numbers.
  Strings strings() const;

  /// The categories, by code. Throws a DTypeError for another type.
  const std::vector<std::string>& categories() const;

  /// Another type of the same values, by name or DType. Strings become categories in sorted order. Numbers convert
  /// without loss, except that floats round. Throws a DTypeError for other changes between kinds, a ValueError that
  /// names the row of a value that the dtype can't hold.
  Column astype(const detail::ColumnType& type) const;

  /// The column with a number or a text in place of the missing values: `age.fillna(age.median())`,
  /// `city.fillna("?")`. A text that isn't a category yet becomes one. Throws a DTypeError for a text in numbers and a
  /// number in strings or categories, a ValueError if the dtype can't hold the number.
  Column fillna(const detail::FillValue& value) const;

  /// Mean and median of the numbers that aren't missing, as in pandas; NaN if there are none. Throw a DTypeError for
  /// strings and categories.
  double mean() const;
  double median() const;

  /// The rows of these numbers, in their order. Throws a ValueError if there is no such row.
  Column take(const std::vector<std::int64_t>& rows) const;

  /// A value as text: "1.5", "Lyon"; "" if it is missing.
  std::string text(std::int64_t row) const;

 private:
  friend struct detail::ColumnOfTexts;
  Column(detail::ColumnType type, std::int64_t size) : type_(type), size_(size) {}
  Column filled(double value) const;
  Column filled(const std::string& value) const;
  std::vector<double> present() const;
  void set_missing(const std::optional<Tensor>& missing);
  void check_row(std::int64_t row) const;

  detail::ColumnType type_;
  std::int64_t size_ = 0, missing_count_ = 0;
  Tensor values_;                                          // numbers or codes
  std::shared_ptr<const std::vector<std::string>> texts_;  // strings or categories
  std::optional<Tensor> isna_;                             // none: nothing is missing
};

}  // namespace mezzo
