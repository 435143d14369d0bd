#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace mezzo::detail {

/// Characters of numbers in a text.
struct CsvNumberFormat {
  char decimal = '.';
  std::optional<char> thousands{};  ///< allowed behind each digit before the decimal point
};

enum class CsvNumber {
  none,
  integer,
  large_integer,  ///< outside of int64
  floating
};

/// Kind of a number with spaces around it: digits, a decimal point, an exponent, "inf", "infinity".
CsvNumber csv_number(std::string_view text, const CsvNumberFormat& format);

/// An integer, or nullopt for other texts and integers outside of T.
template <class T>
std::optional<T> parse_whole(std::string_view text, const CsvNumberFormat& format);

/// A number rounded once to T, float or double, or nullopt for other texts. Numbers out of range are infinite or 0.
template <class T>
std::optional<T> parse_float(std::string_view text, const CsvNumberFormat& format);

/// True for "inf" and "-Infinity".
bool is_infinity(std::string_view text);

}  // namespace mezzo::detail
