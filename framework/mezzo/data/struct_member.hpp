#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/dtype.hpp>
#include <mezzo/core/shape.hpp>

namespace mezzo::detail {

/// The member of structs that is being read. Errors name it and the row.
class MEZZO_API StructColumn {
 public:
  explicit StructColumn(const std::string& name) : name_(name) {}

  void next_row() { ++row_; }

  /// Throws a ShapeError if a row has another number of elements than the first one.
  void check_length(std::int64_t expected, std::size_t given) const;

  /// Throws a ValueError for categories of a field that has no strings.
  void check_categories(const std::vector<std::string>& categories) const;

  /// Throws a ValueError for an unsigned integer above the range of int64.
  [[noreturn]] void fail_large(std::uint64_t value) const;

 private:
  const std::string& name_;
  std::int64_t row_ = 0;
};

/// Element type of the tensor that holds numbers of type T: the one of the same size, or for unsigned integers that
/// mezzo lacks the next larger one.
template <class T, class = void>
struct StructElement {
  static_assert(
      std::is_arithmetic_v<T> && !std::is_same_v<T, long double>,
      "a field must be a number, a bool, an enumeration, a string, or an array or vector of numbers or bools");
  template <class Signed8, class Signed16, class Signed32, class Signed64>
  using BySize = std::conditional_t<
      sizeof(T) == 1, Signed8,
      std::conditional_t<sizeof(T) == 2, Signed16, std::conditional_t<sizeof(T) == 4, Signed32, Signed64>>>;
  using Integer = std::conditional_t<std::is_signed_v<T>, BySize<std::int8_t, std::int16_t, std::int32_t, std::int64_t>,
                                     BySize<std::uint8_t, std::int32_t, std::int64_t, std::int64_t>>;
  using Number = T;
  using Type = std::conditional_t<std::is_same_v<T, bool> || std::is_floating_point_v<T>, T, Integer>;
};
template <class T>
struct StructElement<T, std::enable_if_t<std::is_enum_v<T>>> : StructElement<std::underlying_type_t<T>> {};
template <class T>
struct StructElement<T, std::enable_if_t<std::is_same_v<T, bfloat16> || std::is_same_v<T, float16>>> {
  using Number = T;
  using Type = T;
};

/// Elements of a tensor from a member of type T: a number.
template <class T>
struct StructMember {
  using Element = typename StructElement<T>::Type;
  static void add_sizes(const T& /*value*/, Shape& /*shape*/) {}
  static void write(const T& value, const std::int64_t* /*sizes*/, const StructColumn& column, Element*& out) {
    const auto number = static_cast<typename StructElement<T>::Number>(value);
    if constexpr (std::is_unsigned_v<typename StructElement<T>::Number> && sizeof(T) == 8) {
      if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) column.fail_large(number);
    }
    *out++ = static_cast<Element>(number);
  }
};

/// The same for lists of type List with elements of type T.
template <class List, class T>
struct StructListMember {
  using Element = typename StructMember<T>::Element;
  static void add_sizes(const List& list, Shape& shape) {
    shape.push_back(static_cast<std::int64_t>(std::size(list)));
    if constexpr (!std::is_arithmetic_v<T>) {
      if (std::size(list) > 0) StructMember<T>::add_sizes(*std::begin(list), shape);
    }
  }
  static void write(const List& list, const std::int64_t* sizes, const StructColumn& column, Element*& out) {
    column.check_length(*sizes, std::size(list));
    for (const T& value : list) StructMember<T>::write(value, sizes + 1, column, out);
  }
};
template <class T, std::size_t N>
struct StructMember<std::array<T, N>> : StructListMember<std::array<T, N>, T> {};
template <class T, std::size_t N>
struct StructMember<T[N]> : StructListMember<T[N], T> {};
template <class T>
struct StructMember<std::vector<T>> : StructListMember<std::vector<T>, T> {};

}  // namespace mezzo::detail
