#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>
#include <mezzo/backends/xsimd/int8/pieces_ahead.hpp>

namespace mezzo::xsimd_kernels {

/// Rows of float32 or bfloat16 numbers that are quantized to codes from -127 to 127. Each group of a row has a scale.
struct RowsToCodes {
  const void* from = nullptr;
  std::int64_t width = 0;  ///< numbers from row to row
  std::int64_t rows = 0, depth = 0;
  std::int64_t group = 0;       ///< numbers with one scale, a multiple of 64
  float epsilon = 0;            ///< added to the largest magnitude of a group
  float factor = 0;             ///< of numbers, for codes that are clipped to [-127, 127]; 0: by the largest magnitude
  std::int8_t* to = nullptr;    ///< codes; zeros from `depth` to the next multiple of 64
  std::int64_t pitch = 0;       ///< bytes from row to row, a multiple of 64
  std::int64_t next_group = 0;  ///< bytes from group to group
  float* scales = nullptr;      ///< (rows, groups): a number is its code times the scale; NaN with NaN or infinity
  std::int32_t* starts = nullptr;  ///< (rows, groups): first values of sums, see ByteProduct
};

/// Columns of the panels of a right operand, from `first` to `last`, that are quantized and packed.
///
/// A panel has `panel` columns. It is (words, panel, 4): four bytes are the codes of a column at four places of the
/// depth that follow each other, plus 128. Places behind the depth have the code 0.
struct PanelsToCodes {
  const void* from = nullptr;
  std::int64_t width = 0;  ///< numbers from row to row
  std::int64_t depth = 0, columns = 0;
  std::int64_t first = 0, last = 0;  ///< panels
  std::uint8_t* to = nullptr;        ///< panel 0
  std::int64_t pitch = 0;            ///< bytes from panel to panel
  float* scales = nullptr;           ///< of column 0; written up to the end of a panel
};

/// A group of a product of rows of signed codes with a panel of codes plus 128: sum * row scale * column scale. The sum
/// is an exact int32; it starts with -128 times the sum of the row's codes. Groups are added in `parts`; the last one
/// gives out = relu(all of them + bias).
struct ByteProduct {
  const std::int8_t* a = nullptr;
  std::int64_t a_pitch = 0;  ///< bytes from row to row
  const float* row_scales = nullptr;
  const std::int32_t* starts = nullptr;
  std::int64_t next_row = 1;  ///< scales and starts from row to row
  const std::uint8_t* panel = nullptr;
  const float* column_scales = nullptr;  ///< a whole panel of numbers
  const float* bias = nullptr;           ///< likewise; null: none
  float* parts = nullptr;                ///< (rows, panel); unused if there is one group
  bool first = true, last = true;        ///< groups
  void* out = nullptr;
  std::int64_t out_width = 0;  ///< numbers from row to row
  std::int64_t rows = 0, columns = 0;
  std::int64_t words = 0;  ///< groups of four codes along the depth
  bool relu = false;
  PiecesAhead* ahead = nullptr;  ///< data that other work needs next, with a turn for each byte_rows rows; null: none
};

/// Rows of a block of a ByteProduct.
constexpr std::int64_t byte_rows = 12;

/// Functions for float32 and bfloat16.
template <class Function>
struct PerOperand {
  Function float32, bfloat16;

  const Function& operator[](DType dtype) const { return dtype == DType::float32 ? float32 : bfloat16; }
};

/// Products of codes of 8 bits. All are null below AVX-512; the CPU needs VNNI, too.
struct Int8Functions {
  using Rows = void (*)(const RowsToCodes&);
  using Panels = void (*)(const PanelsToCodes&);
  using Product = void (*)(const ByteProduct&);
  PerOperand<Rows> quantize_rows;
  PerOperand<Panels> quantize_panels;             ///< of a right operand (depth, columns)
  PerOperand<Panels> quantize_transposed_panels;  ///< of one that is stored as (columns, depth)
  Panels pack_codes, pack_transposed_codes;       ///< of codes, without scales
  PerOperand<Product> product;                    ///< by the dtype of out
  std::int64_t panel;                             ///< columns of a panel
};

MEZZO_ISA_TABLE(Int8Functions, int8_products)

/// Longest sums that fit an int32: 127 * 127 * 131072 < 2^31.
constexpr std::int64_t most_code_terms = 131072;

}  // namespace mezzo::xsimd_kernels
