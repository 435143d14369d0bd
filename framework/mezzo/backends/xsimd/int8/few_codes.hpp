#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>
#include <mezzo/backends/xsimd/int8/dequantized_row.hpp>

namespace mezzo::xsimd_kernels {

/// Products of a few rows of x with some rows of a matrix of codes, which are read once in the order of memory. Sums
/// are float32 and made in the order of depth.
///
/// Codes of 8 bits are signed bytes. Codes of 4 bits are two's complement; the lower half of a byte has an even column,
/// the upper half the next one.
struct FewCodes {
  const float* x = nullptr;  ///< (rows, depth)
  std::int64_t x_width = 0;  ///< numbers from row to row
  bool narrow = false;       ///< numbers of x are numbers of bfloat16
  const void* codes = nullptr;
  std::int64_t pitch = 0;  ///< bytes from row to row of the codes
  std::int64_t rows = 0;   ///< of x, 1 to most_rows
  std::int64_t depth = 0, columns = 0;

  /// @name Groups of rows of codes with scales of their own: a number is (code - zero) * scale, of NF4 nf4_values[code]
  /// * scale
  /// @{
  std::int64_t block = 0;              ///< rows of a group; depth without groups
  const float* scales = nullptr;       ///< (groups, columns); null: the sums are those of codes
  const std::int8_t* zeros = nullptr;  ///< likewise; null: 0
  std::int64_t scale_width = 0;
  /// @}

  float* group_sums = nullptr;  ///< memory for rows * sums_width floats
  float* sums = nullptr;        ///< (rows, sums_width), written
  std::int64_t sums_width = 0;  ///< a multiple of 32

  static constexpr std::int64_t most_rows = 8;
};

/// Products of a few rows of x with rows of codes: sums of a row of x and a row of codes.
struct FewTableCodes {
  /// (rows, depth); for codes of 4 bits (rows, 2, (depth + 1) / 2): the numbers of even columns, then of odd ones.
  const float* x = nullptr;
  std::int64_t x_width = 0;
  const void* codes = nullptr;
  std::int64_t pitch = 0;                         ///< bytes from row to row of the codes
  std::int64_t rows = 0, depth = 0, columns = 0;  ///< columns: rows of codes

  std::int64_t block = 0;              ///< terms with one scale, even for codes of 4 bits; depth without groups
  const float* scales = nullptr;       ///< (columns, groups); null: the sums are those of codes
  const std::int8_t* zeros = nullptr;  ///< likewise; null: 0
  bool whole = false;                  ///< all numbers are integers: sums of lanes are added as int32

  float* sums = nullptr;  ///< (rows, sums_width), written
  std::int64_t sums_width = 0;
};

/// The end of a product of few rows: the sums of chunks are added, and divided by scales.
struct FinishCodes {
  const float* sums = nullptr;  ///< (chunks, sums of a chunk)
  std::int64_t chunks = 0, next_chunk = 0;
  std::int64_t columns = 0;
  const float* scales = nullptr;  ///< divisors of columns; null: none
  float row_scale = 1;            ///< divisor of all columns
  bool whole = false;             ///< sums are integers, which are added as int32 in groups of whole_chunks
  void* out = nullptr;

  static constexpr std::int64_t whole_chunks = 1024;  ///< chunks whose sums fit an int32
};

/// A row of numbers that is quantized in place: codes from -127 to 127, as floats.
struct RowToCodes {
  float* x = nullptr;
  std::int64_t count = 0;
  float epsilon = 0;  ///< added to the largest magnitude
  float factor = 0;   ///< of numbers; 0: by the largest magnitude
};

struct FewCodesFunctions {
  using Product = void (*)(const FewCodes&);
  using TableProduct = void (*)(const FewTableCodes&);
  using Dequantize = void (*)(const DequantizedRow&);
  using Finish = void (*)(const FinishCodes&);
  float (*quantize)(const RowToCodes&);  ///< returns the factor; NaN for a row with NaN or infinity
  Product bytes, nibbles, normals;       ///< codes of 8 bits, of 4 bits and of NF4
  TableProduct table_bytes, table_nibbles, table_normals;
  PerStorage<Dequantize> dequantize;
  PerStorage<Finish> finish;
};

MEZZO_ISA_TABLE(FewCodesFunctions, few_codes)

}  // namespace mezzo::xsimd_kernels
