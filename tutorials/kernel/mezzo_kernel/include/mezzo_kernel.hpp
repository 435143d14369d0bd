#pragma once
// Shows the value of a cell's last expression, and takes values apart for structured bindings.
#include <iostream>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <cxxabi.h>

#include <xcpp/xdisplay.hpp>

namespace mezzo_kernel {

/// Right operand of the comma that wraps an expression. `void, End` is an End; of other types it is a Last.
struct End {};

template <class T>
struct Last {
  T&& value;
};

template <class T>
Last<T> operator,(T&& value, End) {
  return {std::forward<T>(value)};
}

struct Text {
  std::string text;
};

inline nlohmann::json mime_bundle_repr(const Text& text) { return {{"text/plain", text.text}}; }

template <class T, class = void>
struct HasBundle : std::false_type {};
template <class T>
struct HasBundle<T, std::void_t<decltype(mime_bundle_repr(std::declval<const T&>()))>> : std::true_type {};

template <class T, class = void>
struct HasStream : std::false_type {};
template <class T>
struct HasStream<T, std::void_t<decltype(std::declval<std::ostream&>() << std::declval<const T&>())>> : std::true_type {
};

template <class T>
std::string text_of(const T& value) {
  std::ostringstream text;
  text << std::boolalpha;
  if constexpr (HasStream<T>::value) {
    text << value;
  } else {
    text << "(" << abi::__cxa_demangle(typeid(T).name(), nullptr, nullptr, nullptr) << ")";
  }
  return text.str();
}

template <class T>
std::string text_of(const std::vector<T>& values) {
  std::string text = "{";
  for (const auto& value : values) text += (text.size() > 1 ? ", " : "") + text_of<T>(value);
  return text + "}";
}

inline void show(End) {}

template <class T>
void show(Last<T> last) {
  using Plain = std::decay_t<T>;
  if constexpr (std::is_base_of_v<std::ios_base, Plain>) {
    return;  // `std::cout << x` has shown x
  } else if constexpr (HasBundle<Plain>::value) {
    xcpp::display(last.value, "execute_result");
  } else {
    xcpp::display(Text{text_of(last.value)}, "execute_result");
  }
}

/// References to the n parts of a tuple, pair, array or struct, in the order of structured bindings.
template <int n, class T>
auto parts(T& value) {
  if constexpr (n == 1) {
    auto& [a] = value;
    return std::tie(a);
  } else if constexpr (n == 2) {
    auto& [a, b] = value;
    return std::tie(a, b);
  } else if constexpr (n == 3) {
    auto& [a, b, c] = value;
    return std::tie(a, b, c);
  } else if constexpr (n == 4) {
    auto& [a, b, c, d] = value;
    return std::tie(a, b, c, d);
  } else if constexpr (n == 5) {
    auto& [a, b, c, d, e] = value;
    return std::tie(a, b, c, d, e);
  } else if constexpr (n == 6) {
    auto& [a, b, c, d, e, f] = value;
    return std::tie(a, b, c, d, e, f);
  } else if constexpr (n == 7) {
    auto& [a, b, c, d, e, f, g] = value;
    return std::tie(a, b, c, d, e, f, g);
  } else if constexpr (n == 8) {
    auto& [a, b, c, d, e, f, g, h] = value;
    return std::tie(a, b, c, d, e, f, g, h);
  }
}

}  // namespace mezzo_kernel
