#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/normalized_input.hpp>
#include <mezzo/backends/xsimd/prefetch.hpp>
#include <mezzo/backends/xsimd/products.hpp>
#include <mezzo/backends/xsimd/row_packing.hpp>

namespace mezzo::xsimd_kernels {

/// The matrix x of x^T g: an input with a row for each row of g.
class LeftFactor {
 public:
  using Index = std::int64_t;

  /// Rows of the input, rows of relu(norm(input)) in float32, or, of an input (samples, steps, channels) in float32,
  /// rows of the step before. The first step has rows of input 2 if the attribute "initial" is true, otherwise zeros.
  enum class Kind { plain, normalized, of_step_before };

  static constexpr Index wide_rows = 16;  ///< rows that are normalized at a time

  LeftFactor(const KernelRequest& request, std::size_t input, Kind kind, Isa isa, ScratchLayout& layout)
      : packing_(request.inputs[input].dtype, isa),
        input_(input),
        channels_(request.inputs[input].shape.back()),
        steps_(kind == Kind::of_step_before ? request.inputs[input].shape[1] : 0),
        initial_(steps_ > 0 && request.attributes.get<bool>("initial")),
        normalized_(request, kind == Kind::normalized, isa, layout) {}

  Index channels() const { return channels_; }

  /// Called once per run, before pack().
  void prepare(const KernelArguments& arguments) const { normalized_.prepare(arguments); }

  /// Copies columns of rows to blocks, `pitch` floats apart. `wide`: memory for wide_rows rows of float32.
  void pack(const KernelArguments& arguments, const Columns& columns, const Rows& rows, float* wide, float* to,
            Index pitch) const {
    if (normalized_) return pack_normalized(arguments, columns, rows, wide, to, pitch);
    if (steps_ > 0) return pack_steps_before(arguments, columns, rows, wide, to, pitch);
    packing_.blocks(arguments.inputs[input_], channels_, columns, rows, to, pitch);
  }

  /// Lines of whole rows.
  Prefetch lines(const KernelArguments& arguments, const Rows& rows) const {
    const Index row = channels_ * packing_.size();
    const char* const from = arguments.in<char>(input_) + rows.first * row;
    return {from, from + rows.count * row};
  }

 private:
  /// Normalizes some rows at a time.
  void pack_normalized(const KernelArguments& arguments, const Columns& columns, const Rows& rows, float* wide,
                       float* to, Index pitch) const {
    const float* const from = arguments.in<float>(input_) + rows.first * channels_ + columns.first;
    const Index together = columns.count == channels_ ? wide_rows : 1;
    for (Index i = 0; i < rows.count; i += together) {
      const Index count = std::min(together, rows.count - i);
      normalized_.compute(arguments, from + i * channels_, columns.first, columns.count, count, wide);
      packing_.blocks(wide, columns.count, {0, columns.count}, {0, count}, to + i * block_columns, pitch);
    }
  }

  void pack_steps_before(const KernelArguments& arguments, const Columns& columns, const Rows& rows, float* wide,
                         float* to, Index pitch) const {
    for (Index done = 0; done < rows.count;) {
      const Index row = rows.first + done, step = row % steps_;
      const Index count = step == 0 ? 1 : std::min(steps_ - step, rows.count - done);
      float* const blocks = to + done * block_columns;
      if (step > 0) {
        packing_.blocks(arguments.inputs[input_], channels_, columns, {row - 1, count}, blocks, pitch);
      } else if (initial_) {
        packing_.blocks(arguments.inputs[2], channels_, columns, {row / steps_, 1}, blocks, pitch);
      } else {
        std::fill_n(wide, columns.count, 0.0F);
        packing_.blocks(wide, columns.count, {0, columns.count}, {0, 1}, blocks, pitch);
      }
      done += count;
    }
  }

  const RowPacking packing_;
  const std::size_t input_;
  const Index channels_;
  const Index steps_;   ///< of a sample, for rows of the step before
  const bool initial_;  ///< has rows before the first step
  const NormalizedInput normalized_;
};

}  // namespace mezzo::xsimd_kernels
