#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/dtype.hpp>
#include <mezzo/core/shape.hpp>

namespace mezzo {

namespace detail {
class NumberRow;

/// Numbers in nested braces, for `Tensor x = {{1, 2}, {3, 4}}` and `array({1, 2, 3})`. Converts from a number and from
/// a list of NumberLists of one shape. Throws a ShapeError for lists of different lengths.
class MEZZO_API NumberList {
 public:
  template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
  NumberList(Number number)
      : kind_(std::is_same_v<Number, bool> ? Kind::boolean
              : std::is_integral_v<Number> ? Kind::integer
                                           : Kind::floating),
        numbers_{static_cast<double>(number)},
        integers_{std::is_integral_v<Number> ? static_cast<std::int64_t>(number) : 0} {}
  NumberList(std::initializer_list<NumberList> entries) { append(entries.begin(), entries.size()); }

  /// @cond
  /// A list of `count` rows.
  NumberList(const NumberRow* rows, std::size_t count);
  /// @endcond

  const Shape& shape() const { return shape_; }

  /// bool if all are C++ bools; int32 if all are integers (int64 if one needs it); otherwise float32.
  DType dtype() const;

  const std::vector<double>& numbers() const { return numbers_; }

  /// The numbers without rounding, if all are integers.
  const std::vector<std::int64_t>& integers() const { return integers_; }

 private:
  enum class Kind { boolean, integer, floating };
  void append(const NumberList* entries, std::size_t count);

  Kind kind_ = Kind::floating;
  Shape shape_;
  std::vector<double> numbers_;
  std::vector<std::int64_t> integers_;
};

/// A NumberList with at least one axis: an entry of the braces of a Tensor, which are not to be read as a shape.
class NumberRow : public NumberList {
 public:
  NumberRow(std::initializer_list<NumberList> entries) : NumberList(entries) {}
};
}  // namespace detail

}  // namespace mezzo
