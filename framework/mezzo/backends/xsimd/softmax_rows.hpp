#pragma once
// Maximum and sum of exponentials of a row, for .isa.cpp files.
#include <mezzo/backends/xsimd/math.hpp>
#include <mezzo/backends/xsimd/stream.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

template <class T>
[[gnu::always_inline]] inline float maximum(const T* x, std::int64_t count) {
  const Floats lowest(-__builtin_inff());
  Floats highest = lowest;
  stream(
      count, [&](std::int64_t i, auto part) { highest = xsimd::max(highest, only(load(x + i, part), lowest, part)); },
      x);
  return max_lanes(highest);
}

/// The sum of term(x). `filling` is the value of the unused lanes of the last register; its term must be 0.
template <class T, class Term>
[[gnu::always_inline]] inline float sum_of(const T* x, std::int64_t count, float filling, const Term& term) {
  Floats sum(0.0F);
  stream(
      count, [&](std::int64_t i, auto part) { sum += term(only(load(x + i, part), Floats(filling), part)); }, x);
  return sum_lanes(sum);
}

/// softmax(x)[i] = exp(x[i] - maximum) / total.
struct Softmax {
  float maximum, total;
};

template <class T>
[[gnu::always_inline]] inline Softmax softmax_of(const T* x, std::int64_t count) {
  const float highest = maximum(x, count);
  const float total =
      sum_of(x, count, -__builtin_inff(), [&](const Floats& v) { return exponential(v - Floats(highest)); });
  return {highest, total};
}

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
