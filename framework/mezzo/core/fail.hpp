#pragma once
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include <mezzo/core/dtype.hpp>
#include <mezzo/core/error.hpp>
#include <mezzo/core/shape.hpp>
#include <mezzo/core/tensor.hpp>

// Formatters of mezzo's types and functions that throw. Private: the public headers must not depend on fmt.

/// "(32, 28, 28, 1)".
template <>
struct fmt::formatter<mezzo::Shape> : fmt::formatter<std::string> {
  template <class Context>
  auto format(const mezzo::Shape& shape, Context& context) const {
    return fmt::format_to(context.out(), "{}", mezzo::to_string(shape));
  }
};

/// "bfloat16".
template <>
struct fmt::formatter<mezzo::DType> : fmt::formatter<std::string_view> {
  template <class Context>
  auto format(mezzo::DType dtype, Context& context) const {
    return fmt::format_to(context.out(), "{}", mezzo::dtype_name(dtype));
  }
};

/// "float32 (2, 3)".
template <>
struct fmt::formatter<mezzo::Tensor> : fmt::formatter<std::string> {
  template <class Context>
  auto format(const mezzo::Tensor& tensor, Context& context) const {
    return fmt::format_to(context.out(), "{}", tensor.describe());
  }
};

namespace mezzo {

namespace detail {

/// The text as one line that is safe to print: control characters are escaped, and more than 8,000 bytes are shortened
/// in the middle. Names and values in errors and warnings may come from files of others.
std::string one_line(std::string_view text);

}  // namespace detail

/// Throws an E whose text is `where`, a space, and the formatted message:
/// `fail<ShapeError>(where, "input axis {} must be {}; got shape {}", axis, size, shape)`. `where` is
/// `[Conv2D "stem"]` or the like; an empty one adds nothing. Numbers print with all their digits.
template <class E, class... Arguments>
[[noreturn]] void fail(std::string_view where, fmt::format_string<Arguments...> message, Arguments&&... arguments) {
  const std::string text = fmt::format(message, std::forward<Arguments>(arguments)...);
  throw E(where.empty() ? text : fmt::format("{} {}", where, text));
}

/// Throws a NameError: `<where> unknown <kind> "<name>"; valid names: a, b, c`.
template <class Names>
[[noreturn]] void fail_unknown(std::string_view where, std::string_view kind, std::string_view name,
                               const Names& valid) {
  fail<NameError>(where, "unknown {} \"{}\"; valid names: {}", kind, name, fmt::join(valid, ", "));
}

}  // namespace mezzo
