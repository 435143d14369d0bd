#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace mezzo::detail {

/// Scale of a group of numbers of one row or column in a product of int8: code = round(x inverse), to nearest with ties
/// to even, and x = code scale up to half a scale. The largest magnitude has the code 127 or -127; -128 is not used.
struct Int8Scale {
  float scale = 0;    ///< largest magnitude / 127; NaN if a number is NaN or infinite
  float inverse = 0;  ///< 127 / largest magnitude; 0 if a number is NaN or infinite

  Int8Scale() = default;

  /// `largest`: the largest magnitude of the numbers; NaN or infinity if one of them is. Magnitudes below 2^-119 count
  /// as 2^-119, so that scale and inverse are normal numbers: smaller numbers have smaller codes, zeros the code 0.
  explicit Int8Scale(float largest) {
    constexpr float steps = 127, least = 0x1p-119F;
    if (!std::isfinite(largest)) {
      scale = std::numeric_limits<float>::quiet_NaN();
      return;
    }
    scale = std::max(largest, least) / steps;
    inverse = steps / std::max(largest, least);
  }

  /// The code of a number of the group. 0 if the scale is NaN, which makes all products with the row or column NaN.
  float code(float x) const {
    constexpr float whole = 0x1.8p23F;  // sums with it are rounded to whole numbers
    const float scaled = x * inverse;
    return inverse > 0 ? scaled + whole - whole : 0;
  }

  /// A sum of products of codes of a group in units of the operands. Every kernel multiplies in this order, and adds
  /// groups in float32 from first to last.
  static float product(float sum, float row_scale, float column_scale) { return sum * row_scale * column_scale; }
};

/// The larger of a largest magnitude so far and that of x; NaN if one is NaN.
inline float larger_magnitude(float largest, float x) {
  const float magnitude = std::abs(x);
  return magnitude > largest || std::isnan(magnitude) ? magnitude : largest;
}

/// Largest magnitude of the numbers x(0), ..., x(count - 1), which are float32; NaN if one is NaN.
template <class Numbers>
float largest_magnitude(std::int64_t count, const Numbers& x) {
  float largest = 0;
  for (std::int64_t i = 0; i < count; ++i) largest = larger_magnitude(largest, x(i));
  return largest;
}

/// Terms of a sum that follow each other and share scales in a product of int8: each row of the left matrix and each
/// column of the right one has a scale for each group. The last group has the rest.
constexpr std::int64_t int8_group = 2048;

inline std::int64_t int8_groups(std::int64_t depth) { return (depth + int8_group - 1) / int8_group; }

/// Largest number of terms in a sum of an int8 product: 127 * 127 times as many fits in int32.
constexpr std::int64_t most_int8_terms = 1 << 17;

}  // namespace mezzo::detail
