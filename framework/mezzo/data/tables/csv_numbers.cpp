#include <mezzo/data/tables/csv_numbers.hpp>

#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <system_error>

namespace mezzo::detail {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::string_view without_spaces_around(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view without_sign(std::string_view text) {
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) text.remove_prefix(1);
  return text;
}

bool equals_lower(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) | 0x20U) != static_cast<unsigned char>(lower[i])) return false;
  }
  return true;
}

/// Kind of a number without spaces, in the plain format; nullopt for everything unusual.
std::optional<CsvNumber> usual_number(std::string_view text) {
  constexpr std::ptrdiff_t always_int64 = 18;
  const char* p = text.data();
  const char* const end = p + text.size();
  if (p != end && *p == '-') ++p;
  const char* const whole = p;
  while (p != end && is_digit(*p)) ++p;
  if (p == whole || p - whole > always_int64) return std::nullopt;
  if (p == end) return CsvNumber::integer;
  if (*p++ != '.') return std::nullopt;
  while (p != end && is_digit(*p)) ++p;
  if (p == end) return CsvNumber::floating;
  return std::nullopt;
}

/// Length of the digits at the start, with thousands separators behind each; `digits` counts the digits.
std::size_t digits_at(std::string_view text, const std::optional<char>& thousands, std::size_t& digits) {
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    if (is_digit(text[i])) {
      ++digits;
    } else if (!(thousands && text[i] == *thousands && digits > 0)) {
      break;
    }
  }
  return i;
}

/// The number with '.' as the decimal point and without thousands separators, in `buffer` if it has to change.
std::string_view in_plain_form(std::string_view text, const CsvNumberFormat& format, std::string& buffer) {
  if (format.decimal == '.' && !format.thousands) return text;
  buffer.clear();
  bool whole = true;
  std::size_t digits = 0;
  for (const char c : text) {
    if (c == format.decimal) {
      buffer += '.';
      whole = false;
    } else if (whole && digits > 0 && format.thousands && c == *format.thousands) {
      continue;
    } else {
      // A point that is not the decimal one must not become one.
      buffer += c == '.' ? ' ' : c;
      digits += is_digit(c) ? 1 : 0;
    }
  }
  return buffer;
}

/// True if a decimal number that is out of the range of its type is too small, not too large.
bool is_tiny(std::string_view plain) {
  plain = without_sign(plain);
  const std::size_t mark = plain.find_first_of("eE");
  const std::string_view mantissa = plain.substr(0, mark);
  std::int64_t exponent = 0;
  if (mark != std::string_view::npos) {
    std::string_view digits = plain.substr(mark + 1);
    if (!digits.empty() && digits[0] == '+') digits.remove_prefix(1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (error == std::errc::result_out_of_range) return digits[0] == '-';
  }
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  const std::size_t first = mantissa.find_first_of("123456789");
  if (first == std::string_view::npos) return true;
  const auto place = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);
  return exponent < -place;
}

}  // namespace

bool is_infinity(std::string_view text) {
  const std::string_view word = without_sign(without_spaces_around(text));
  return equals_lower(word, "inf") || equals_lower(word, "infinity");
}

CsvNumber csv_number(std::string_view text, const CsvNumberFormat& format) {
  if (format.decimal == '.' && !format.thousands) {
    if (const auto usual = usual_number(text)) return *usual;
  }
  text = without_spaces_around(text);
  const std::string_view number = without_sign(text);
  if (number.empty()) return CsvNumber::none;
  if (!is_digit(number[0]) && number[0] != format.decimal) {
    return is_infinity(text) ? CsvNumber::floating : CsvNumber::none;
  }
  std::size_t digits = 0;
  std::string_view rest = number.substr(digits_at(number, format.thousands, digits));
  if (rest.empty()) {
    if (digits <= 18 || parse_whole<std::int64_t>(text, format)) return CsvNumber::integer;
    return CsvNumber::large_integer;
  }
  if (rest[0] == format.decimal) {
    rest.remove_prefix(1);
    rest.remove_prefix(digits_at(rest, std::nullopt, digits));
  }
  if (digits == 0) return CsvNumber::none;
  if (rest.empty()) return CsvNumber::floating;
  if (rest[0] != 'e' && rest[0] != 'E') return CsvNumber::none;
  rest = without_sign(rest.substr(1));
  std::size_t exponent = 0;
  return digits_at(rest, std::nullopt, exponent) == rest.size() && exponent > 0 ? CsvNumber::floating : CsvNumber::none;
}

template <class T>
std::optional<T> parse_whole(std::string_view text, const CsvNumberFormat& format) {
  T value{};
  const auto [first_end, first_error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (first_error == std::errc() && first_end == text.data() + text.size()) return value;
  std::string buffer;
  text = in_plain_form(without_spaces_around(text), format, buffer);
  if (!text.empty() && text[0] == '+') {
    text.remove_prefix(1);
    if (text.empty() || !is_digit(text[0])) return std::nullopt;
  }
  if (text == "-0" && std::is_unsigned_v<T>) return T{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <class T>
std::optional<T> parse_float(std::string_view text, const CsvNumberFormat& format) {
  T value{};
  if (text.size() > 1 && format.decimal == '.' && !format.thousands && is_digit(text[text[0] == '-' ? 1 : 0])) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size()) return value;
  }
  std::string buffer;
  text = without_spaces_around(text);
  if (text.empty()) return std::nullopt;
  const bool negative = text[0] == '-';
  const char first = without_sign(text).empty() ? '\0' : without_sign(text)[0];
  if (!is_digit(first) && first != format.decimal) {  // std::from_chars also takes "nan(x)"
    if (!is_infinity(text)) return std::nullopt;
    return negative ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
  }
  text = in_plain_form(text, format, buffer);
  if (text[0] == '+') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) return std::nullopt;
  if (error == std::errc()) return value;
  if (error != std::errc::result_out_of_range) return std::nullopt;
  if constexpr (std::is_same_v<T, float>) {  // also subnormal numbers
    double wide = 0;
    const auto again = std::from_chars(text.data(), text.data() + text.size(), wide);
    if (again.ec == std::errc()) return static_cast<float>(wide);
  }
  const T size = is_tiny(text) ? T{} : std::numeric_limits<T>::infinity();
  return negative ? -size : size;
}

template std::optional<std::int8_t> parse_whole(std::string_view, const CsvNumberFormat&);
template std::optional<std::int16_t> parse_whole(std::string_view, const CsvNumberFormat&);
template std::optional<std::int32_t> parse_whole(std::string_view, const CsvNumberFormat&);
template std::optional<std::int64_t> parse_whole(std::string_view, const CsvNumberFormat&);
template std::optional<std::uint8_t> parse_whole(std::string_view, const CsvNumberFormat&);
template std::optional<float> parse_float(std::string_view, const CsvNumberFormat&);
template std::optional<double> parse_float(std::string_view, const CsvNumberFormat&);

}  // namespace mezzo::detail
