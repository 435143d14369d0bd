#include <mezzo/backends/xsimd/int8/byte_gemm.hpp>

#include <algorithm>

#include <mezzo/backends/xsimd/entries.hpp>

namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

/// Rows of a block of a product, with AVX-512; with AVX2 two blocks.
constexpr Index unit_rows = 12;
/// Bytes of codes of rows that stay in the L2 cache beside a panel.
constexpr Index block_bytes = 1 << 18;
/// Most bytes of codes of all rows for which panels are packed in bands: every panel is multiplied with all of them.
constexpr Index most_row_bytes = 3 << 19;
/// Most panels of a band. Rows of numbers are read in pieces of as many columns.
constexpr Index most_band_panels = 16;
/// Most bytes of a band of a transposed operand, with its numbers. It is read in order of memory.
constexpr Index transposed_band_bytes = 3 << 17;

}  // namespace

ByteGemm::ByteGemm(const ByteShape& shape, Isa isa, ScratchLayout& layout)
    : functions_(kernels(isa).int8_products),
      shape_(shape),
      panels_((shape.columns + functions_.panel - 1) / functions_.panel),
      panel_pitch_((shape.depth + 3) / 4 * 4 * functions_.panel),
      // An odd number of cache lines: rows at a distance of a power of two would share a set of the cache.
      row_pitch_(((shape.depth + 63) / 64 | 1) * 64),
      threads_(thread_count()) {
  const Index rows_of_thread = std::max<Index>(1, (shape.rows + threads_ - 1) / threads_);
  if (!shape.packed && shape.rows * row_pitch_ <= most_row_bytes) {
    const Index panel_bytes = panel_pitch_ + shape.depth * functions_.panel * size_of(shape.b);
    const Index panels = shape.transposed ? transposed_band_bytes / panel_bytes : most_band_panels;
    band_panels_ = std::clamp<Index>(panels, 1, most_band_panels);
  }
  by_rows_ = band_panels_ == 0 && (threads_ == 1 || shape.rows >= 2 * unit_rows * threads_);
  block_rows_ = std::max(unit_rows, block_bytes / row_pitch_ / unit_rows * unit_rows);
  block_rows_ = by_rows_ ? std::min(block_rows_, rows_of_thread) : shape.rows;
  const Index slots = by_rows_ ? threads_ : 1;
  const auto rows = static_cast<std::size_t>(slots * block_rows_);
  codes_ = layout.take(rows * static_cast<std::size_t>(row_pitch_));
  scales_ = layout.take(rows * sizeof(float));
  starts_ = layout.take(rows * sizeof(std::int32_t));
}

void ByteGemm::quantize(const ByteOperands& operands, Index slot, Index first, Index rows) const {
  functions_.quantize_rows[shape_.a]({
      .from = static_cast<const char*>(operands.a) + first * shape_.depth * size_of(shape_.a),
      .width = shape_.depth,
      .rows = rows,
      .depth = shape_.depth,
      .epsilon = shape_.epsilon,
      .factor = operands.factor,
      .to = reinterpret_cast<std::int8_t*>(operands.scratch + codes_) + slot * row_pitch_,
      .pitch = row_pitch_,
      .scales = reinterpret_cast<float*>(operands.scratch + scales_) + slot,
      .starts = reinterpret_cast<std::int32_t*>(operands.scratch + starts_) + slot,
  });
}

void ByteGemm::multiply(const ByteOperands& operands, const std::uint8_t* panels, Index slot, Index first, Index rows,
                        Index first_panel, Index last_panel) const {
  for (Index panel = first_panel; panel < last_panel; ++panel) {
    const Index column = panel * functions_.panel;
    functions_.product[shape_.out]({
        .a = reinterpret_cast<const std::int8_t*>(operands.scratch + codes_) + slot * row_pitch_,
        .a_pitch = row_pitch_,
        .row_scales = reinterpret_cast<const float*>(operands.scratch + scales_) + slot,
        .starts = reinterpret_cast<const std::int32_t*>(operands.scratch + starts_) + slot,
        .panel = panels + (panel - first_panel) * panel_pitch_,
        .column_scales = operands.column_scales + column,
        .bias = operands.bias == nullptr ? nullptr : operands.bias + column,
        .out = static_cast<char*>(operands.out) + (first * shape_.columns + column) * size_of(shape_.out),
        .out_width = shape_.columns,
        .rows = rows,
        .columns = std::min(functions_.panel, shape_.columns - column),
        .words = (shape_.depth + 3) / 4,
        .relu = operands.relu,
    });
  }
}

void ByteGemm::quantize_all(const ByteOperands& operands) const {
  parallel_for(shape_.rows, grain_of(shape_.depth),
               [&](Index begin, Index end) { quantize(operands, begin, begin, end - begin); });
}

void ByteGemm::run(const ByteOperands& operands) const {
  if (by_rows_) {
    // Threads have equal numbers of rows, in equal blocks.
    parallel_ranges(shape_.rows, 1, static_cast<int>(threads_), [&](int thread, Index begin, Index end) {
      const Index slot = thread * block_rows_, blocks = (end - begin + block_rows_ - 1) / block_rows_;
      for (Index block = 0; block < blocks; ++block) {
        const Index first = begin + (end - begin) * block / blocks;
        const Index rows = begin + (end - begin) * (block + 1) / blocks - first;
        quantize(operands, slot, first, rows);
        multiply(operands, operands.panels, slot, first, rows, 0, panels_);
      }
    });
    return;
  }
  quantize_all(operands);
  parallel_for(panels_, grain_of(shape_.rows * shape_.depth), [&](Index begin, Index end) {
    multiply(operands, operands.panels + begin * panel_pitch_, 0, 0, shape_.rows, begin, end);
  });
}

}  // namespace mezzo::xsimd_kernels
