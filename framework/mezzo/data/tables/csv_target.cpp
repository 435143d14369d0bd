#include <mezzo/data/tables/csv_target.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/visit.hpp>
#include <mezzo/data/tables/categories.hpp>
#include <mezzo/data/tables/column_of_texts.hpp>
#include <mezzo/data/tables/number_casts.hpp>

namespace mezzo::detail {
namespace {

/// True if float64 can hold all integers.
bool all_exact(const Tensor& integers) {
  const auto* x = integers.data<std::int64_t>();
  return std::all_of(x, x + integers.size(), [](std::int64_t i) { return equals_integer(static_cast<double>(i), i); });
}

}  // namespace

CsvTarget::CsvTarget(const CsvColumn& column, const CsvSeen& seen, const CsvDialect& dialect, std::int64_t rows)
    : column_(&column),
      dialect_(&dialect),
      type_(column.given ? *column.given : seen.type()),
      takes_missing_(!column.given || type_.kind() != ColumnType::Kind::numbers || is_floating(type_.dtype())),
      may_become_floats_(!column.given && type_.name() == "int64" && !seen.inexact),
      keeps_integers_(column.given || !seen.floating),
      store_(&CsvTarget::store_text) {
  const bool inferred_floats = !column.given && type_.name() == "float64";
  if (!inferred_floats) {  // there a NaN is enough
    missing_ = Tensor({rows}, DType::boolean);
    isna_ = missing_.mutable_data<bool>();
  }
  if (is_text()) {
    texts_.resize(static_cast<std::size_t>(rows));
    return;
  }
  numbers_ = Tensor::uninitialized({rows}, type_.dtype());
  elements_ = numbers_.mutable_raw();
  if (type_.kind() == ColumnType::Kind::categories) {
    store_ = &CsvTarget::store_category;
    categories_ = in_category_order(seen.texts);
    for (const std::string& text : categories_) codes_.emplace(text, static_cast<std::int64_t>(codes_.size()));
    return;
  }
  visit_dtype(type_.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, bool>) {
      store_ = &CsvTarget::store_boolean;
    } else {
      store_ = &CsvTarget::store_number<T>;
    }
  });
  const bool plain = dialect.numbers.decimal == '.' && !dialect.numbers.thousands && dialect.missing_numbers.empty();
  if (plain && type_.dtype() == DType::int64) store_usual_ = &CsvTarget::store_usual_number<std::int64_t>;
  if (plain && type_.dtype() == DType::float64) store_usual_ = &CsvTarget::store_usual_number<double>;
}

/// The field as T, or nullopt if T can't hold it.
template <class T>
std::optional<T> CsvTarget::number(std::string_view field) const {
  const CsvNumberFormat& format = dialect_->numbers;
  if constexpr (std::is_integral_v<T>) {
    if (const auto whole = parse_whole<T>(field, format)) return whole;
    const auto wide = column_->given ? parse_float<double>(field, format) : std::nullopt;  // "1.0"
    if (!wide || std::abs(*wide) > static_cast<double>(exact_integers)) return std::nullopt;
    return held_as<T>(*wide);
  } else {
    constexpr bool half = !std::is_same_v<T, float> && !std::is_same_v<T, double>;
    const auto parsed = parse_float<std::conditional_t<half, double, T>>(field, format);
    if (!parsed) return std::nullopt;
    const T value = convert<T>(*parsed);
    if (std::isinf(convert<double>(value)) && !is_infinity(field)) return std::nullopt;
    if (keeps_integers_ && std::abs(convert<double>(value)) >= static_cast<double>(exact_integers)) {
      const CsvNumber kind = csv_number(field, format);
      if (kind == CsvNumber::large_integer) return std::nullopt;
      if (kind == CsvNumber::integer && !equals_integer(value, *parse_whole<std::int64_t>(field, format))) {
        return std::nullopt;
      }
    }
    return value;
  }
}

template <class T>
bool CsvTarget::store_number(std::string_view field, std::int64_t row) {
  T& element = static_cast<T*>(elements_)[row];
  if (dialect_->missing_numbers.empty() || !is_missing_field(field, *dialect_)) {
    if (const auto value = number<T>(field)) {
      element = *value;
      return true;
    }
    if (!is_missing_field(field, *dialect_)) return false;
  }
  if constexpr (std::is_integral_v<T>) {
    element = T{};
  } else {
    element = static_cast<T>(std::numeric_limits<float>::quiet_NaN());
  }
  if (isna_ != nullptr) isna_[row] = true;
  return takes_missing_;
}

template <class T>
const char* CsvTarget::store_usual_number(const char* at, const char* end, std::int64_t row) {
  const char first = *at == '-' && at != end ? at[1] : *at;
  if (first < '0' || first > '9') return nullptr;  // std::from_chars also takes "nan(x)"
  T& element = static_cast<T*>(elements_)[row];
  const auto [stop, error] = std::from_chars(at, end, element);
  if (error != std::errc() || (stop != end && *stop != dialect_->sep && *stop != '\n')) return nullptr;
  if constexpr (std::is_floating_point_v<T>) {
    if (keeps_integers_ && std::abs(element) >= static_cast<T>(exact_integers)) return nullptr;
  }
  return stop;
}

const char* CsvTarget::store_usual(const char* at, const char* end, std::int64_t row) {
  return store_usual_ == nullptr ? nullptr : (this->*store_usual_)(at, end, row);
}

bool CsvTarget::store_boolean(std::string_view field, std::int64_t row) {
  bool& element = static_cast<bool*>(elements_)[row];
  element = false;
  if (dialect_->true_texts.contains(field)) {
    element = true;
    return true;
  }
  if (dialect_->false_texts.contains(field)) return true;
  if (is_missing_field(field, *dialect_)) {
    isna_[row] = true;
    return takes_missing_;
  }
  const auto value = column_->given ? parse_float<double>(field, dialect_->numbers) : std::nullopt;
  element = value == 1;
  return value == 0 || value == 1;
}

bool CsvTarget::store_text(std::string_view field, std::int64_t row) {
  if (is_missing_field(field, *dialect_)) {
    isna_[row] = true;
  } else {
    texts_[static_cast<std::size_t>(row)].assign(field);
  }
  return true;
}

bool CsvTarget::store_category(std::string_view field, std::int64_t row) {
  const bool missing = is_missing_field(field, *dialect_);
  isna_[row] = missing;
  static_cast<std::int64_t*>(elements_)[row] = missing ? -1 : codes_.find(field)->second;
  return true;
}

std::string CsvTarget::refusal(std::string_view field) const {
  constexpr std::size_t shown = 60;
  const char* const missing = is_missing_field(field, *dialect_) ? "the missing value " : "";
  return fmt::format("be a number that fits {}; got {}\"{}\"", type_.dtype(), missing, field.substr(0, shown));
}

Column CsvTarget::finish() {
  const std::optional<Tensor> missing = isna_ == nullptr ? std::nullopt : std::optional<Tensor>(missing_);
  if (is_text()) return ColumnOfTexts::make(std::move(texts_), missing);
  if (type_.kind() == ColumnType::Kind::categories) {
    return Column::categorical(std::move(numbers_), std::move(categories_));
  }
  Column out(std::move(numbers_), missing);
  const bool becomes_floats = may_become_floats_ && out.missing() > 0 && all_exact(out.values());
  return becomes_floats ? out.astype(DType::float64) : out;
}

}  // namespace mezzo::detail
