#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <type_traits>
#include <utility>

namespace mezzo {

namespace detail {
/// Type of the enabled template parameter of functions that take a name as std::string, const char* or literal. Unlike
/// a parameter of type std::string it accepts neither braces, `({.name = "act"})`, nor a null pointer, `(0)`.
template <class S>
using IfName =
    std::enable_if_t<std::is_convertible_v<const S&, std::string> && !std::is_same_v<S, std::nullptr_t>, int>;
}  // namespace detail

namespace detail {
/// A std::map by name: `logs["loss"]`, `logs.at("loss")`. A literal 0, which would be the name at a null pointer, does
/// not compile.
template <class T>
class NameMap : public std::map<std::string, T> {
  using Map = std::map<std::string, T>;

 public:
  using Map::Map;
  NameMap() = default;
  NameMap(Map map) : Map(std::move(map)) {}

  using Map::operator[];
  using Map::at;
  using Map::count;
  using Map::find;
  T& operator[](std::nullptr_t) = delete;
  T& at(std::nullptr_t) = delete;
  const T& at(std::nullptr_t) const = delete;
  std::size_t count(std::nullptr_t) const = delete;
  typename Map::const_iterator find(std::nullptr_t) const = delete;
};
}  // namespace detail

}  // namespace mezzo
