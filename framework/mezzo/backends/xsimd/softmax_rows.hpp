#pragma once
// Maximum and sum of exponentials of a row, for .isa.cpp files.
#include <mezzo/backends/xsimd/grouped.hpp>
#include <mezzo/backends/xsimd/math.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

template <class T>
[[gnu::always_inline]] inline float maximum(const T* x, std::int64_t count) {
  const Floats lowest(-__builtin_inff());
  Grouped all(-__builtin_inff());
  const auto body = [&](std::int64_t i, auto part) {
    auto& highest = part_of(all, part);
    highest = max(highest, only(load(x + i, part), lowest, part));
  };
  stream_groups(count, body, x);
  return max_lanes(all);
}

/// The sum of term(x), for Floats or groups of them. `filling` is the value of the unused lanes of the last register;
/// its term must be 0.
template <class T, class Term>
[[gnu::always_inline]] inline float sum_of(const T* x, std::int64_t count, float filling, const Term& term) {
  Grouped sums(0.0F);
  const auto body = [&](std::int64_t i, auto part) {
    auto& sum = part_of(sums, part);
    sum = sum + term(only(load(x + i, part), Floats(filling), part));
  };
  stream_groups(count, body, x);
  return sum_lanes(sums);
}

/// softmax(x)[i] = exp(x[i] - maximum) / total.
struct Softmax {
  float maximum, total;
};

/// exp(x - highest) of an x that is at most `highest`.
template <class F>
[[gnu::always_inline]] inline F weight_of(const F& x, float highest) {
  return low_exponential(x - F(highest));
}

template <class T>
[[gnu::always_inline]] inline Softmax softmax_of(const T* x, std::int64_t count) {
  const float highest = maximum(x, count);
  const float total = sum_of(x, count, -__builtin_inff(), [&](const auto& v) { return weight_of(v, highest); });
  return {highest, total};
}

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
