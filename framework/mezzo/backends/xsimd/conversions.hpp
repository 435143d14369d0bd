#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// Casts to each storage type.
struct CastFunctions {
  using Cast = void (*)(const void* x, void* y, std::int64_t count);

  PerStorage<PerStorage<Cast>> from_storage;
  PerStorage<Cast> from_int32;
  PerStorage<Cast> from_bytes;  ///< from uint8 and bool
};

/// Joins the halves of SplitFloat to float32, and splits float32 into them, for elements [begin, end). `high` holds
/// bfloat16, `low` int16.
struct SplitMasterFunctions {
  void (*join)(const void* high, const void* low, void* whole, std::int64_t begin, std::int64_t end);
  void (*split)(const void* whole, void* high, void* low, std::int64_t begin, std::int64_t end);
};

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

/// Splits float32 into sums of two bfloat16, with an error of 2^-17 of x. high is x rounded to nearest, and the largest
/// bfloat16 for finite x beyond it. low is x - high, rounded. If x is infinite or NaN, high is x, and low and
/// finite_high are 0; otherwise finite_high is high.
struct Float32SplitFunctions {
  void (*round)(const float* x, bfloat16* high, std::int64_t count);
  void (*split)(const float* x, bfloat16* high, bfloat16* finite_high, bfloat16* low, std::int64_t count);
};

MEZZO_ISA_TABLE(CastFunctions, cast)
MEZZO_ISA_TABLE(SplitMasterFunctions, split_master)
MEZZO_ISA_TABLE(Float16SplitFunctions, float16_split)
MEZZO_ISA_TABLE(Float32SplitFunctions, float32_split)

Entries conversion_entries();

}  // namespace mezzo::xsimd_kernels
