#include <mezzo/backends/xsimd/int8/byte_gemm.hpp>

#include <algorithm>

#include <mezzo/backends/xsimd/entries.hpp>

namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

/// Bytes of codes of rows that stay in the L2 cache beside a panel.
constexpr Index block_bytes = 1 << 18;
/// Most bytes of codes of all rows for which panels are packed in bands: every panel is multiplied with all of them.
constexpr Index most_row_bytes = 3 << 19;
/// Most bytes of panels that are packed all at once. More leave the caches before they are read.
constexpr Index most_panel_bytes = 1 << 24;
/// Most rows of a block, and bytes of their codes, in products by bands. The panels are packed once for each block.
constexpr Index most_band_rows = 1024, most_band_row_bytes = 1 << 24;
/// Most panels of a band: a group of them stays in the L2 cache. With fewer, pieces of rows that are read become short.
constexpr Index most_band_panels = 6;

}  // namespace

ByteGemm::ByteGemm(const ByteShape& shape, Isa isa, ScratchLayout& layout)
    : functions_(kernels(isa).int8_products),
      shape_(shape),
      panels_((shape.columns + functions_.panel - 1) / functions_.panel),
      panel_pitch_((shape.depth + 3) / 4 * 4 * functions_.panel),
      // An odd number of cache lines: long rows at a distance of a power of two would share a set of the cache.
      row_pitch_(shape.groups() > 1 ? shape.group : ((shape.depth + 63) / 64 | 1) * 64),
      row_bytes_(shape.groups() * row_pitch_),
      threads_(thread_count()) {
  const Index rows_of_thread = std::max<Index>(1, (shape.rows + threads_ - 1) / threads_);
  const bool few = shape.rows * row_bytes_ <= most_row_bytes, many_panels = panels_ * panel_pitch_ > most_panel_bytes;
  if (!shape.packed && (few || many_panels)) band_panels_ = most_band_panels;
  by_rows_ = band_panels_ == 0 && (threads_ == 1 || shape.rows >= 2 * byte_rows * threads_);
  if (band_panels_ > 0) {
    block_rows_ = std::min({shape.rows, most_band_rows, std::max(byte_rows, most_band_row_bytes / row_bytes_)});
  } else if (by_rows_) {
    block_rows_ = std::min(rows_of_thread, std::max(byte_rows, block_bytes / row_bytes_ / byte_rows * byte_rows));
  } else {
    block_rows_ = shape.rows;
  }
  const Index slots = (by_rows_ ? threads_ : 1) * block_rows_, groups = shape.groups();
  codes_ = layout.take(static_cast<std::size_t>(slots * row_bytes_));
  scales_ = layout.take(static_cast<std::size_t>(slots * groups) * sizeof(float));
  starts_ = layout.take(static_cast<std::size_t>(slots * groups) * sizeof(std::int32_t));
  if (groups > 1) parts_size_ = std::max<Index>(1, band_panels_) * block_rows_ * functions_.panel;
  parts_ = layout.take(static_cast<std::size_t>(threads_ * parts_size_) * sizeof(float));
}

std::int8_t* ByteGemm::codes_of(const ByteOperands& operands, const Rows& rows, Index group) const {
  return reinterpret_cast<std::int8_t*>(operands.scratch + codes_) + rows.block * block_rows_ * row_bytes_ +
         (group * block_rows_ + rows.slot) * row_pitch_;
}

void ByteGemm::quantize(const ByteOperands& operands, const Rows& rows) const {
  const Index scale = (rows.block * block_rows_ + rows.slot) * shape_.groups();
  functions_.quantize_rows[shape_.a]({
      .from = static_cast<const char*>(operands.a) + rows.first * shape_.depth * size_of(shape_.a),
      .width = shape_.depth,
      .rows = rows.count,
      .depth = shape_.depth,
      .group = shape_.group,
      .epsilon = shape_.epsilon,
      .factor = operands.factor,
      .to = codes_of(operands, rows, 0),
      .pitch = row_pitch_,
      .next_group = block_rows_ * row_pitch_,
      .scales = reinterpret_cast<float*>(operands.scratch + scales_) + scale,
      .starts = reinterpret_cast<std::int32_t*>(operands.scratch + starts_) + scale,
  });
}

void ByteGemm::multiply(const ByteOperands& operands, const Rows& rows, Index panel, Index group,
                        const std::uint8_t* codes, float* parts, PiecesAhead& ahead) const {
  const Index column = panel * functions_.panel, groups = shape_.groups(),
              scale = (rows.block * block_rows_ + rows.slot) * groups + group;
  functions_.product[shape_.out]({
      .a = codes_of(operands, rows, group),
      .a_pitch = row_pitch_,
      .row_scales = reinterpret_cast<const float*>(operands.scratch + scales_) + scale,
      .starts = reinterpret_cast<const std::int32_t*>(operands.scratch + starts_) + scale,
      .next_row = groups,
      .panel = codes,
      .column_scales = operands.column_scales + group * padded_columns() + column,
      .bias = operands.bias == nullptr ? nullptr : operands.bias + column,
      .parts = parts,
      .first = group == 0,
      .last = group == groups - 1,
      .out = static_cast<char*>(operands.out) + (rows.first * shape_.columns + column) * size_of(shape_.out),
      .out_width = shape_.columns,
      .rows = rows.count,
      .columns = std::min(functions_.panel, shape_.columns - column),
      .words = (shape_.terms(group) + 3) / 4,
      .relu = operands.relu,
      .ahead = &ahead,
  });
}

void ByteGemm::multiply_panels(const ByteOperands& operands, const Rows& rows, Index first, Index last, int thread,
                               PiecesAhead ahead) const {
  for (Index panel = first; panel < last; ++panel) {
    const std::uint8_t* const codes = operands.panels + panel * panel_pitch_;
    for (Index group = 0; group < shape_.groups(); ++group) {
      multiply(operands, rows, panel, group, codes + group * group_bytes(), parts_of(operands, thread), ahead);
    }
  }
}

void ByteGemm::quantize_all(const ByteOperands& operands, Index first, Index count) const {
  parallel_for(count, grain_of(shape_.depth), [&](Index begin, Index end) {
    quantize(operands, {.first = first + begin, .count = end - begin, .slot = begin});
  });
}

void ByteGemm::run(const ByteOperands& operands) const {
  const int most = threads_now();
  if (by_rows_) {
    // Threads have equal numbers of rows, in equal blocks.
    parallel_ranges(shape_.rows, 1, most, [&](int thread, Index begin, Index end) {
      const Index blocks = (end - begin + block_rows_ - 1) / block_rows_, row_bytes = shape_.depth * size_of(shape_.a);
      const auto first_row = [&](Index block) { return begin + (end - begin) * block / blocks; };
      for (Index block = 0; block < blocks; ++block) {
        const Rows rows{.first = first_row(block), .count = first_row(block + 1) - first_row(block), .block = thread};
        quantize(operands, rows);
        PiecesAhead ahead;
        if (block + 1 < blocks) {
          const Index next = rows.first + rows.count;
          ahead = {static_cast<const char*>(operands.a) + next * row_bytes, 1,
                   (first_row(block + 2) - next) * row_bytes, 0, turns(rows.count, panels_ * shape_.groups())};
        }
        multiply_panels(operands, rows, 0, panels_, thread, ahead);
      }
    });
    return;
  }
  quantize_all(operands, 0, shape_.rows);
  parallel_ranges(panels_, grain_of(shape_.rows * shape_.depth), most, [&](int thread, Index begin, Index end) {
    multiply_panels(operands, {.first = 0, .count = shape_.rows}, begin, end, thread, {});
  });
}

}  // namespace mezzo::xsimd_kernels
