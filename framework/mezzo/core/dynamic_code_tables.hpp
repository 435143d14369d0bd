#pragma once
#include <cstdint>

#include <mezzo/core/dynamic_code.hpp>

namespace mezzo::detail {

/// Numbers of a block are divided by its scale as products with the inverse, unless the inverse would be denormal,
/// which CPUs may flush to 0.
constexpr bool has_inverse(float scale) { return scale <= 0x1p+125F && scale >= -0x1p+125F; }

/// A DynamicCode in tables of 16 and 32 numbers, for CPUs that look these up in registers.
struct MEZZO_API DynamicCodeTables {
  /// The tables of signed or of unsigned codes.
  static const DynamicCodeTables& of(bool has_sign);

  /// Indexed by the lowest 4 bits of the exponent of the rank plus 0.5, or 1.5 if there is no sign: the power of the
  /// decade, 0 for rank 0, and the factor that gives exactly 1 for the last rank.
  float powers[16] = {};

  /// Indexed by the lowest 5 bits of the exponent of a magnitude from 2^-31 on: the number of segments that begin at or
  /// below this power of two, and the beginning of one between this power and the next, or infinity.
  std::int32_t begun[32] = {};
  float next[32] = {};

  /// Numbers of DynamicCode::Segments, by the number of segments that have begun.
  float factor[16] = {}, offset[16] = {}, last[16] = {};

 private:
  explicit DynamicCodeTables(const DynamicCode& code);
};

}  // namespace mezzo::detail
