#pragma once
#include <algorithm>
#include <cstdint>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/xsimd/int8/int8_products.hpp>
#include <mezzo/core/isa.hpp>
#include <mezzo/core/parallel.hpp>

namespace mezzo::xsimd_kernels {

/// Sizes and dtypes of a product of codes of 8 bits.
struct ByteShape {
  std::int64_t rows = 0, depth = 0, columns = 0;
  DType a = DType::float32, out = DType::float32;
  DType b = DType::float32;  ///< dtype of the numbers that panels are made of
  float epsilon = 0;         ///< added to the largest magnitude of a row
  bool transposed = false;   ///< the numbers of a panel's column are a row in memory
  bool packed = true;        ///< the panels are a constant; else each run packs them
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

  /// Panels that a thread packs and multiplies before the next ones, so that they stay in the caches. 0: all panels
  /// are packed before run(), since they are constants or have many rows to multiply.
  std::int64_t band_panels() const { return band_panels_; }
  std::int64_t threads() const { return threads_; }

  /// Multiplies with all panels.
  void run(const ByteOperands& operands) const;

  /// Multiplies band by band. pack(thread, first, last) packs these panels, writes their columns' scales to
  /// `operands.column_scales`, and returns the address of the first of them.
  template <class Pack>
  void run_in_bands(const ByteOperands& operands, const Pack& pack) const {
    quantize_all(operands);
    const std::int64_t grain = grain_of(shape_.rows * shape_.depth);
    parallel_ranges(panels_, grain, static_cast<int>(threads_), [&](int thread, std::int64_t begin, std::int64_t end) {
      for (std::int64_t first = begin; first < end; first += band_panels_) {
        const std::int64_t last = std::min(end, first + band_panels_);
        multiply(operands, pack(thread, first, last), 0, 0, shape_.rows, first, last);
      }
    });
  }

 private:
  void quantize_all(const ByteOperands& operands) const;
  void quantize(const ByteOperands& operands, std::int64_t slot, std::int64_t first, std::int64_t rows) const;
  void multiply(const ByteOperands& operands, const std::uint8_t* panels, std::int64_t slot, std::int64_t first,
                std::int64_t rows, std::int64_t first_panel, std::int64_t last_panel) const;

  const Int8Functions& functions_;
  const ByteShape shape_;
  const std::int64_t panels_, panel_pitch_, row_pitch_;
  std::int64_t threads_ = 1;
  std::int64_t block_rows_ = 0;  ///< most rows of a block
  bool by_rows_ = false;         ///< threads share the rows, not the columns
  std::int64_t band_panels_ = 0;
  std::size_t codes_ = 0, scales_ = 0, starts_ = 0;
};

}  // namespace mezzo::xsimd_kernels
