#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// Float16 as sums of two bfloat16, whose 8 + 8 bits cover its 11: high is x rounded to nearest, low = x - high, both
/// exact. Where x is infinite or NaN, high is that, and low and finite_high are 0.
///
/// The product of two such sums is made of four, high high + finite_high low + low finite_high + low low. What
/// finite_high, which is high elsewhere, is for: infinity times the other's low would be NaN where low is 0, or
/// infinite with the wrong sign.
struct Float16SplitFunctions {
  /// `low` is written twice, to `low` and `low_again`.
  using Split = void (*)(const float16* x, bfloat16* high, bfloat16* finite_high, bfloat16* low, bfloat16* low_again,
                         std::int64_t count);
  Split split;
};

const Float16SplitFunctions& float16_split_functions(Isa isa);

namespace sse2 {
extern const Float16SplitFunctions float16_split;
}
namespace avx2 {
extern const Float16SplitFunctions float16_split;
}
namespace avx512 {
extern const Float16SplitFunctions float16_split;
}
namespace avx512_bf16 {
extern const Float16SplitFunctions float16_split;
}

}  // namespace mezzo::xsimd_kernels
