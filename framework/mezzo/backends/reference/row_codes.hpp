#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace mezzo::reference {

/// Codes of `count` numbers with one scale, which multiplies: `given`, or without it 127 / (the largest magnitude +
/// 1e-7). The scale is NaN, and no code is written, if a number is NaN or infinite.
template <class T>
void quantize_row(const T* x, std::int64_t count, const float* given, std::int8_t* codes, T& scale) {
  T most = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    const T magnitude = std::abs(x[k]);
    if (!(magnitude <= most)) most = magnitude;  // keeps NaN
    if (!std::isfinite(most)) break;
  }
  scale = std::numeric_limits<T>::quiet_NaN();
  if (!std::isfinite(most)) return;
  constexpr T limit = 127;
  scale = given != nullptr ? static_cast<T>(*given) : limit / (most + static_cast<T>(1e-7));
  for (std::int64_t k = 0; k < count; ++k) {
    codes[k] = static_cast<std::int8_t>(std::clamp(std::nearbyint(x[k] * scale), -limit, limit));
  }
}

}  // namespace mezzo::reference
