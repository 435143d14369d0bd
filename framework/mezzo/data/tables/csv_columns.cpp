#include <mezzo/data/tables/csv_columns.hpp>

#include <algorithm>

#include <mezzo/data/tables/number_casts.hpp>

namespace mezzo::detail {

bool is_missing_field(std::string_view field, const CsvDialect& dialect) {
  if (dialect.missing.contains(field)) return true;
  if (dialect.missing_numbers.empty()) return false;
  const auto number = parse_float<double>(field, dialect.numbers);
  const auto& missing = dialect.missing_numbers;
  return number && std::find(missing.begin(), missing.end(), *number) != missing.end();
}

void CsvSeen::add(std::string_view field, const CsvDialect& dialect) {
  constexpr std::size_t exact_digits = 15;
  if (text) return;
  if (!dialect.missing_numbers.empty() && is_missing_field(field, dialect)) {
    missing = true;
    return;
  }
  switch (csv_number(field, dialect.numbers)) {
    case CsvNumber::integer:
      integer = true;
      if (field.size() > exact_digits && !inexact) {
        const std::int64_t value = parse_whole<std::int64_t>(field, dialect.numbers).value_or(0);
        inexact = !equals_integer(static_cast<double>(value), value);
      }
      return;
    case CsvNumber::large_integer:
      large_integer = true;
      return;
    case CsvNumber::floating:
      floating = true;
      return;
    case CsvNumber::none:
      break;
  }
  if (dialect.missing.contains(field)) {
    missing = true;
  } else if (dialect.true_texts.contains(field) || dialect.false_texts.contains(field)) {
    boolean = true;
  } else {
    text = true;
  }
}

void CsvSeen::add(const CsvSeen& other) {
  missing |= other.missing;
  integer |= other.integer;
  large_integer |= other.large_integer;
  floating |= other.floating;
  boolean |= other.boolean;
  text |= other.text;
  inexact |= other.inexact;
  texts.insert(other.texts.begin(), other.texts.end());
}

ColumnType CsvSeen::type() const {
  const bool number = integer || large_integer || floating;
  if (text || (boolean && number) || (large_integer && !floating)) return {"str"};
  if (boolean) return {DType::boolean};
  if (floating) return {DType::float64};
  if (integer && (!missing || inexact)) return {DType::int64};
  if (integer || missing) return {DType::float64};
  return {"str"};  // no rows
}

}  // namespace mezzo::detail
