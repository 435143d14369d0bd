#pragma once
#include <cstdint>
#include <limits>
#include <type_traits>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/core/float_order.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/shape.hpp>

namespace mezzo::reference {

/// An array as (outer, count, inner) elements: the axis `count` and all axes before and after it.
struct Lines {
  std::int64_t outer = 1, count = 1, inner = 1;

  Lines(const Shape& shape, std::int64_t axis) {
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(shape.size()); ++i) {
      (i < axis ? outer : i == axis ? count : inner) *= shape[static_cast<std::size_t>(i)];
    }
  }

  std::int64_t lines() const { return outer * inner; }

  /// Offset of the first element of line i; the others lie `inner` apart.
  std::int64_t start(std::int64_t i) const { return i / inner * count * inner + i % inner; }

  /// Calls body(i, start(i)) for each line that has elements, on all threads.
  template <class Body>
  void for_each(const Body& body) const {
    if (count == 0) return;
    parallel_for(lines(), grain_of(count), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) body(i, start(i));
    });
  }
};

/// Integer that orders elements; NaN is above all numbers. Denormals are 0 while arithmetic treats them as 0: adding 0
/// has this effect.
template <class T>
auto rank_of(T x) {
  if constexpr (std::is_integral_v<T>) {
    return x;
  } else {
    const std::conditional_t<std::is_same_v<T, double>, double, float> number(x);
    const auto order = detail::float_order(number + 0);
    return number != number ? std::numeric_limits<std::decay_t<decltype(order)>>::max() : order;
  }
}

/// Integer that orders elements; NaN is below all numbers.
template <class T>
auto rank_below(T x) {
  if constexpr (std::is_integral_v<T>) {
    return x;
  } else {
    const std::conditional_t<std::is_same_v<T, double>, double, float> number(x);
    const auto order = detail::float_order(number + 0);
    return number != number ? std::numeric_limits<std::decay_t<decltype(order)>>::min() : order;
  }
}

}  // namespace mezzo::reference
