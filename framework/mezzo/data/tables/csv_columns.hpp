#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <mezzo/data/tables/column_type.hpp>
#include <mezzo/data/tables/csv_dialect.hpp>

namespace mezzo::detail {

/// A column to read.
struct CsvColumn {
  std::string name;
  std::size_t field = 0;            ///< place in the records
  std::optional<ColumnType> given;  ///< none: inferred
};

/// Kinds of values that fields of a column have.
struct CsvSeen {
  bool missing = false, integer = false, large_integer = false, floating = false, boolean = false, text = false;
  bool inexact = false;         ///< an integer that float64 can't hold
  std::set<std::string> texts;  ///< different texts, for categories

  /// Adds a field of a column whose type is inferred. After a text, nothing is added.
  void add(std::string_view field, const CsvDialect& dialect);
  void add(const CsvSeen& other);

  /// Type that holds all of them.
  ColumnType type() const;
};

/// True for the text of a missing value, also as a number.
bool is_missing_field(std::string_view field, const CsvDialect& dialect);

}  // namespace mezzo::detail
