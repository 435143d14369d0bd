#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>

#include <mezzo/core/api.hpp>
#include <mezzo/ops/ints.hpp>

// Constructors that take Keras' first arguments without a name: `Dense(10, {.activation = "relu"})`. The types of such
// parameters are template parameters, so that braces, `Dense({.units = 10})`, are never taken for one of them.
namespace mezzo::detail {

/// Type of the enabled template parameter of functions that take an integer; bool and floats don't compile.
template <class I>
using IfInteger = std::enable_if_t<std::is_integral_v<I> && !std::is_same_v<I, bool>, int>;

/// The same for any number.
template <class N>
using IfNumber = std::enable_if_t<std::is_arithmetic_v<N> && !std::is_same_v<N, bool>, int>;

/// The same for types that convert to T. Braces do not.
template <class X, class T>
using IfConverts = std::enable_if_t<std::is_convertible_v<const X&, T>, int>;

/// The same for types that convert to T and are not T.
template <class X, class T>
using IfOther = std::enable_if_t<std::is_convertible_v<const X&, T> && !std::is_same_v<X, T>, int>;

/// The same for T itself: `template <class S = Shape, IfSame<S, Shape> = 0>` also takes braces, `{28, 28, 1}`, but
/// prefers options to it.
template <class X, class T>
using IfSame = std::enable_if_t<std::is_same_v<X, T>, int>;

/// First member of options that unnamed numbers in braces would fit, so that `MaxPooling2D({2, 3})` is a pool_size.
struct Named {
  explicit Named() = default;
};

/// Throws a ValueError: `[Dense "fc"] units is given twice: once without a name and once as .units`.
[[noreturn]] MEZZO_API void fail_given_twice(const char* kind, const std::string& name, const char* option);

/// Sets an option from an argument without a name. A ValueError if the option is set too. `name` is the name of the
/// layer or "".
template <class Options, class T>
Options positional(const char* kind, const std::string& name, const char* option, T Options::*member, T value,
                   Options options) {
  if (!(options.*member == Options{}.*member)) fail_given_twice(kind, name, option);
  options.*member = std::move(value);
  return options;
}

}  // namespace mezzo::detail
