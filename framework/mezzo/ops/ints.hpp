#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>

#include <mezzo/core/api.hpp>
#include <mezzo/core/shape.hpp>

namespace mezzo {

namespace detail {
/// One or several integers: `3` or `{3, 5}`. For height and width, one number sets both.
class MEZZO_API Ints {
 public:
  Ints() = default;
  template <class I, class = std::enable_if_t<std::is_integral_v<I> && !std::is_same_v<I, bool>>>
  Ints(I number) : numbers_{static_cast<std::int64_t>(number)} {}
  Ints(std::initializer_list<std::int64_t> numbers) : numbers_(numbers) {}
  explicit Ints(Shape numbers) : numbers_(std::move(numbers)) {}

  bool empty() const { return numbers_.empty(); }
  bool operator==(const Ints& other) const { return numbers_ == other.numbers_; }

  /// The numbers as given: one entry for a single number.
  const Shape& numbers() const { return numbers_; }

  /// {height, width}. Throws a ValueError that starts with `where` unless there are one or two numbers, each at least
  /// `least`. `name` is the option's name.
  Shape pair(const std::string& where, const std::string& name, std::int64_t least = 1) const;

 private:
  Shape numbers_;
};
}  // namespace detail

}  // namespace mezzo
