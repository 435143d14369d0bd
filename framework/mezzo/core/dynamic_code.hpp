#pragma once
#include <cstdint>

#include <mezzo/core/api.hpp>
#include <mezzo/core/dtype.hpp>

namespace mezzo::detail {

/// 8-bit numbers with a dynamic exponent, for optimizer states (Dettmers et al., 2022, arXiv 2110.02861). A code stands
/// for a number of [-1, 1], or of [0, 1] if it is unsigned: 0, 1, and midpoints of equal parts of the decades from 1e-7
/// to 1. The parts double from decade to decade, up to 64, or 128 if unsigned. -1 has no code.
///
/// A block of numbers has a scale, by which the codes are multiplied: its number of the largest magnitude, with its
/// sign. It has the code of 1 and is exact, so that decoded numbers get the same codes and the same scale again.
struct MEZZO_API DynamicCode {
  /// Elements of a block; the last block of an array may have fewer.
  static constexpr std::int64_t block = 256;

  /// Magnitudes below this are stored as 0 if all of the block are.
  static constexpr float least_scale = 0x1p-96F;

  static constexpr std::int64_t blocks_of(std::int64_t count) { return (count + block - 1) / block; }

  /// The code of arrays of int8 (signed) or uint8 (unsigned).
  static const DynamicCode& of(DType dtype);

  /// Writes `count` numbers of a block.
  void decode(const std::uint8_t* codes, float scale, float* to, std::int64_t count) const;

  /// Writes the codes of a block of `count` numbers and returns the scale. Rounds to nearest. An unsigned code of a
  /// positive number is not 0, since updates divide by such states. A block with a NaN or an infinity becomes NaN.
  float encode(const float* from, std::int64_t count, std::uint8_t* codes) const;

  /// Scale of a block: 0 or NaN if all of its numbers are. `largest`: bits of the largest magnitude. `highest`: the
  /// largest number, or 0 if all are negative.
  static float scale_of(std::uint32_t largest, float highest);

  explicit DynamicCode(bool has_sign);

  bool has_sign;
  std::uint8_t zero;  ///< code of 0: 0, or -1 if signed
  float values[256];  ///< number of each code, as a byte

  /// Ranks count the codes of magnitudes from 0 up. Decade d has the ranks of a power of two of parts, from parts_of(d)
  /// on, or from one less if there is no sign.
  static constexpr int decades = 7;
  static constexpr int parts_of(int decade, bool has_sign) { return 1 << (has_sign ? decade : decade + 1); }

  static constexpr int segment_count = decades + 1;
  float powers[segment_count];  ///< ends of the decades, and 1

  /// Segments of magnitudes relative to the scale, one for each decade and one for 1. Segment i begins at from[i]. The
  /// rank of a magnitude x of it is the integer part of factor[i] * x + offset[i], at most last[i].
  struct Segments {
    float from[segment_count], factor[segment_count], offset[segment_count], last[segment_count];
  };
  Segments segments;
  float least_rank;  ///< rank of magnitudes before the first segment

 private:
  void set_segment(int i, float from, double factor, double offset, int last);
};

}  // namespace mezzo::detail
