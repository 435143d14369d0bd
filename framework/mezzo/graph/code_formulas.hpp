#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

// Formulas of the codes of quantized weights and inputs: those of Keras, with code = rint(...), half to even.
namespace mezzo::detail {

/// Range of the codes of that many bits.
template <class T>
struct CodeRange {
  T lowest, limit;

  static CodeRange of(bool int4) { return int4 ? CodeRange{-8, 7} : CodeRange{-127, 127}; }
};

/// Scale of numbers of at most that magnitude: limit / (most + 1e-7).
template <class T>
T symmetric_scale(T most, T limit) {
  return limit / (most + static_cast<T>(1e-7));
}

/// Code of a number: clip(rint(x * scale)).
template <class T>
T symmetric_code(T x, T scale, CodeRange<T> range) {
  return std::min(std::max(std::nearbyint(x * scale), range.lowest), range.limit);
}

/// Scale and zero point of numbers in a range that has 0, in 4 bits.
template <class T>
struct ScaleWithZero {
  T scale, zero;

  ScaleWithZero(T least, T most) {
    const auto range = CodeRange<T>::of(true);
    scale = std::max((most - least + static_cast<T>(1e-7)) / (range.limit - range.lowest),
                     static_cast<T>(std::numeric_limits<float>::min()));
    zero = std::clamp(std::nearbyint(-least / scale) + range.lowest, range.lowest, range.limit);
  }
};

/// Code of a number: clip(rint(x / scale) + zero).
template <class T>
T code_with_zero(T x, T scale, T zero) {
  const auto range = CodeRange<T>::of(true);
  return std::clamp(std::nearbyint(x / scale) + zero, range.lowest, range.limit);
}

}  // namespace mezzo::detail
