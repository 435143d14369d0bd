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
  std::int64_t group = 0;  ///< terms of a sum with scales of their own, a multiple of 64; the last group has the rest
  DType a = DType::float32, out = DType::float32;
  DType b = DType::float32;  ///< dtype of the numbers that panels are made of
  float epsilon = 0;         ///< added to the largest magnitude of a group of a row
  bool transposed = false;   ///< the numbers of a panel's column are a row in memory
  bool packed = true;        ///< the panels are a constant; else each run packs them

  std::int64_t groups() const { return (depth + group - 1) / group; }
  /// Terms of group `i`.
  std::int64_t terms(std::int64_t i) const { return std::min(group, depth - i * group); }
};

/// Memory of one run of a ByteGemm.
struct ByteOperands {
  const void* a = nullptr;
  float factor = 0;                      ///< of numbers of a, for clipped codes; 0: by the largest magnitude of a group
  const std::uint8_t* panels = nullptr;  ///< as PanelsToCodes describes
  const float* column_scales = nullptr;  ///< (groups, padded columns)
  const float* bias = nullptr;           ///< up to the end of a panel; null: none
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
  /// Bytes of a whole group in a panel.
  std::int64_t group_bytes() const { return shape_.group * functions_.panel; }

  /// Most panels of which a thread packs and multiplies one group at a time, so that it stays in the caches. 0: all
  /// panels are packed before run(), since they are constants or have many rows to multiply.
  std::int64_t band_panels() const { return band_panels_; }
  std::int64_t threads() const { return threads_; }

  /// Multiplies with all panels.
  void run(const ByteOperands& operands) const;

  /// Turns of PiecesAhead in products of `rows` rows with `panels` groups of panels.
  static std::int64_t turns(std::int64_t rows, std::int64_t panels) {
    return (rows + byte_rows - 1) / byte_rows * panels;
  }

  /// Multiplies band by band. pack(thread, first, last, group) packs this group of these panels, writes its scales to
  /// `operands.column_scales`, and returns the address of the first panel. The next one follows after group_bytes().
  /// numbers(first, last, group, turns) gives the numbers that pack() reads.
  template <class Pack, class Numbers>
  void run_in_bands(const ByteOperands& operands, const Pack& pack, const Numbers& numbers) const {
    const std::int64_t groups = shape_.groups();
    for (std::int64_t row = 0; row < shape_.rows; row += block_rows_) {
      const std::int64_t rows = std::min(block_rows_, shape_.rows - row);
      quantize_all(operands, row, rows);
      const auto share = [&](int thread, std::int64_t begin, std::int64_t end) {
        const std::int64_t bands = (end - begin + band_panels_ - 1) / band_panels_;
        const auto first_of = [&](std::int64_t band) { return begin + (end - begin) * band / bands; };
        for (std::int64_t i = 0; i < bands * groups; ++i) {
          const std::int64_t band = i / groups, group = i % groups, first = first_of(band), last = first_of(band + 1);
          const std::uint8_t* panel = pack(thread, first, last, group);
          PiecesAhead ahead;
          if (i + 1 < bands * groups) {
            const std::int64_t next = (i + 1) / groups;
            ahead = numbers(first_of(next), first_of(next + 1), (i + 1) % groups, turns(rows, last - first));
          }
          float* parts = parts_of(operands, thread);
          for (std::int64_t j = first; j < last; ++j, panel += group_bytes(), parts += block_rows_ * functions_.panel) {
            multiply(operands, {.first = row, .count = rows}, j, group, panel, parts, ahead);
          }
        }
      };
      parallel_ranges(panels_, grain_of(rows * shape_.depth), threads_now(), share);
    }
  }

 private:
  /// Rows of the product, whose codes begin in row `slot` of a block in scratch memory: (groups, rows of a block,
  /// codes of a group).
  struct Rows {
    std::int64_t first = 0, count = 0, block = 0, slot = 0;
  };

  /// Threads of a run: at most those that have scratch memory.
  int threads_now() const { return std::min(static_cast<int>(threads_), thread_count()); }

  void quantize_all(const ByteOperands& operands, std::int64_t first, std::int64_t count) const;
  std::int8_t* codes_of(const ByteOperands& operands, const Rows& rows, std::int64_t group) const;
  void quantize(const ByteOperands& operands, const Rows& rows) const;
  /// Multiplies with one group of a panel, whose codes are at `codes`.
  void multiply(const ByteOperands& operands, const Rows& rows, std::int64_t panel, std::int64_t group,
                const std::uint8_t* codes, float* parts, PiecesAhead& ahead) const;
  void multiply_panels(const ByteOperands& operands, const Rows& rows, std::int64_t first, std::int64_t last,
                       int thread, PiecesAhead ahead) const;
  /// Sums of groups of a thread: (panels of a band, rows of a block, columns of a panel).
  float* parts_of(const ByteOperands& operands, int thread) const {
    return reinterpret_cast<float*>(operands.scratch + parts_) + thread * parts_size_;
  }

  const Int8Functions& functions_;
  const ByteShape shape_;
  const std::int64_t panels_, panel_pitch_, row_pitch_, row_bytes_;
  std::int64_t threads_ = 1;
  std::int64_t block_rows_ = 0;  ///< most rows of a block
  bool by_rows_ = false;         ///< threads share the rows, not the columns
  std::int64_t band_panels_ = 0, parts_size_ = 0;
  std::size_t codes_ = 0, scales_ = 0, starts_ = 0, parts_ = 0;
};

}  // namespace mezzo::xsimd_kernels
