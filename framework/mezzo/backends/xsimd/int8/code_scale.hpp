#pragma once
#include <cstdint>
#include <limits>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

/// Scale of a row or column, and its inverse, by which numbers become codes.
struct CodeScale {
  float scale, inverse;
};

/// For a row with this largest magnitude, as bits: they order NaN above infinity and that above all numbers. The
/// formulas are those of detail::Int8Scale, and with Keras' epsilon those of the op quantized_matmul.
[[gnu::always_inline]] inline CodeScale code_scale(std::int32_t magnitude, float epsilon) {
  constexpr std::int32_t infinity = 0x7f800000;
  constexpr float least = 0x1p-119F, steps = 127;
  if (magnitude >= infinity) return {std::numeric_limits<float>::quiet_NaN(), 0};
  float largest = 0;
  __builtin_memcpy(&largest, &magnitude, sizeof largest);
  largest += epsilon;
  if (largest < least) largest = least;
  return {largest / steps, steps / largest};
}

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
