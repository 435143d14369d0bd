#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// Splits float16 into sums of two bfloat16, whose 8 + 8 significant bits cover its 11. high is x rounded to nearest,
/// low = x - high; the sum is exact. If x is infinite or NaN, high is x, and low and finite_high are 0; otherwise
/// finite_high is high.
///
/// The product of two such sums has four terms: high high + finite_high low + low finite_high + low low. With high in
/// place of finite_high, an infinity times the other operand's low would be NaN if low is 0, or have the wrong sign.
struct Float16SplitFunctions {
  /// low is written to both `low` and `low_again`.
  using Split = void (*)(const float16* x, bfloat16* high, bfloat16* finite_high, bfloat16* low, bfloat16* low_again,
                         std::int64_t count);
  Split split;
};

MEZZO_ISA_TABLE(Float16SplitFunctions, float16_split)

}  // namespace mezzo::xsimd_kernels
