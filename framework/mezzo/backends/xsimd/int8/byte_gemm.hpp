#pragma once
#include <cstdint>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/xsimd/int8/int8_products.hpp>
#include <mezzo/core/isa.hpp>

namespace mezzo::xsimd_kernels {

/// Sizes and dtypes of a product of codes of 8 bits.
struct ByteShape {
  std::int64_t rows = 0, depth = 0, columns = 0;
  DType a = DType::float32, out = DType::float32;
  float epsilon = 0;  ///< added to the largest magnitude of a row
};

/// Memory of one run of a ByteGemm.
struct ByteOperands {
  const void* a = nullptr;
  float factor = 0;                      ///< of numbers of a, for clipped codes; 0: by the largest magnitude of a row
  const std::uint8_t* panels = nullptr;  ///< as PanelsToCodes describes
  const float* column_scales = nullptr;  ///< up to the end of a panel
  const float* bias = nullptr;           ///< likewise; null: none
  bool relu = false;
  void* out = nullptr;
  char* scratch = nullptr;
};

/// Quantizes rows and multiplies them with packed panels of codes. Results don't depend on the number of threads.
class ByteGemm {
 public:
  ByteGemm(const ByteShape& shape, Isa isa, ScratchLayout& layout);

  std::int64_t panel_count() const { return panels_; }
  std::int64_t panel_pitch() const { return panel_pitch_; }
  /// Bytes of all panels.
  std::size_t panel_bytes() const { return static_cast<std::size_t>(panels_ * panel_pitch_); }
  /// Columns up to the end of the last panel.
  std::int64_t padded_columns() const { return panels_ * functions_.panel; }

  void run(const ByteOperands& operands) const;

 private:
  void quantize(const ByteOperands& operands, std::int64_t slot, std::int64_t first, std::int64_t rows) const;
  void multiply(const ByteOperands& operands, std::int64_t slot, std::int64_t first, std::int64_t rows,
                std::int64_t first_panel, std::int64_t last_panel) const;

  const Int8Functions& functions_;
  const ByteShape shape_;
  const std::int64_t panels_, panel_pitch_, row_pitch_;
  std::int64_t threads_ = 1;
  std::int64_t block_rows_ = 0;  ///< most rows of a block
  bool by_rows_ = false;         ///< threads share the rows, not the columns
  std::size_t codes_ = 0, scales_ = 0, starts_ = 0;
};

}  // namespace mezzo::xsimd_kernels
