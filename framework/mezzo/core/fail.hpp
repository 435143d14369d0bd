#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <mezzo/core/error.hpp>
#include <mezzo/core/shape.hpp>

// Formatters of mezzo's types and functions that throw. Private: the public headers must not depend on fmt.

namespace mezzo {
class ShapeView;
class Size;
class Tensor;
enum class DType;
}  // namespace mezzo

namespace mezzo::detail {

/// Formatter of a type that has one text, without options. format() is compiled once, in formatters.cpp:
/// fmt::format_to() in a header compiles all of fmt's engine in each file.
template <class T>
struct TextFormatter {
  constexpr const char* parse(fmt::format_parse_context& context) { return context.begin(); }
  fmt::format_context::iterator format(const T& value, fmt::format_context& context) const;
};

}  // namespace mezzo::detail

/// "(32, 28, 28, 1)".
template <>
struct fmt::formatter<mezzo::Shape> : mezzo::detail::TextFormatter<mezzo::Shape> {};

/// Other lists of integers, in the same form.
template <>
struct fmt::formatter<std::vector<std::int64_t>> : mezzo::detail::TextFormatter<std::vector<std::int64_t>> {};

/// "(?, 10)".
template <>
struct fmt::formatter<mezzo::ShapeView> : mezzo::detail::TextFormatter<mezzo::ShapeView> {};

/// "32", "?".
template <>
struct fmt::formatter<mezzo::Size> : mezzo::detail::TextFormatter<mezzo::Size> {};

/// "bfloat16".
template <>
struct fmt::formatter<mezzo::DType> : mezzo::detail::TextFormatter<mezzo::DType> {};

/// "float32 (2, 3)".
template <>
struct fmt::formatter<mezzo::Tensor> : mezzo::detail::TextFormatter<mezzo::Tensor> {};

namespace mezzo {

namespace detail {

/// The text as one line that is safe to print: control characters are escaped, and more than 8,000 bytes are shortened
/// in the middle. Names and values in errors and warnings may come from files of others.
std::string one_line(std::string_view text);

/// `unknown <kind> "<name>"; valid names: a, b, c`, then `; nearest: "a"` if one of several names is like it.
std::string unknown_text(std::string_view kind, std::string_view name, const std::vector<std::string>& valid);

/// `where`, a space, and the formatted message; only the message if `where` is empty.
std::string located(std::string_view where, fmt::string_view message, fmt::format_args arguments);

}  // namespace detail

/// Throws an E whose text is `where`, a space, and the formatted message:
/// `fail<ShapeError>(where, "input axis {} must be {}; got shape {}", axis, size, shape)`. `where` is
/// `[Conv2D "stem"]` or the like; an empty one adds nothing. Numbers print with all their digits.
template <class E, class... Arguments>
[[noreturn]] void fail(std::string_view where, fmt::format_string<Arguments...> message, Arguments&&... arguments) {
  throw E(detail::located(where, message, fmt::make_format_args(arguments...)));
}

/// Throws a NameError with detail::unknown_text() of the names, which are texts of any type:
/// `fail_unknown(where, "mode", mode, {"min", "max"})`.
template <class Names = std::initializer_list<const char*>>
[[noreturn]] void fail_unknown(std::string_view where, std::string_view kind, std::string_view name,
                               const Names& valid) {
  fail<NameError>(where, "{}", detail::unknown_text(kind, name, {std::begin(valid), std::end(valid)}));
}

}  // namespace mezzo
