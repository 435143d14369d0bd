#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <mezzo/backends/xsimd/conversions.hpp>
#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/normalized_input.hpp>
#include <mezzo/backends/xsimd/prefetch.hpp>
#include <mezzo/backends/xsimd/products.hpp>

namespace mezzo::xsimd_kernels {

struct Columns {
  std::int64_t first = 0, count = 0;
};

struct Rows {
  std::int64_t first = 0, count = 0;
};

/// Copies columns of the rows of a matrix for products: rows of bfloat16 in pairs if the instruction set multiplies
/// them, others as float32.
class RowPacking {
 public:
  using Index = std::int64_t;

  RowPacking(DType dtype, Isa isa)
      : products_(kernels(isa).products),
        widen_(kernels(isa).cast.from_storage[dtype].float32),
        size_(size_of(dtype)),
        pairs_(dtype == DType::bfloat16 && multiplies_pairs(products_)) {}

  bool pairs() const { return pairs_; }
  /// Bytes of a number.
  Index size() const { return size_; }

  /// Copies columns of rows that are `width` apart, to blocks or to panels, `pitch` floats apart. `wide`: memory for
  /// `width` floats, not used for float32.
  void blocks(const void* from, Index width, const Columns& columns, const Rows& rows, float* wide, float* to,
              Index pitch) const {
    pack(products_.pack.blocks, products_.pack_pairs.blocks, from, width, columns, rows, wide, to, pitch,
         block_columns);
  }
  void panels(const void* from, Index width, const Columns& columns, const Rows& rows, float* wide, float* to,
              Index pitch) const {
    pack(products_.pack.panels, products_.pack_pairs.panels, from, width, columns, rows, wide, to, pitch,
         products_.panel);
  }

 private:
  void pack(PackFunctions<float>::Pack pack_floats, PackFunctions<bfloat16>::Pack pack_pairs, const void* matrix,
            Index width, const Columns& columns, const Rows& rows, float* wide, float* to, Index pitch,
            Index panel) const {
    const char* from = static_cast<const char*>(matrix) + (rows.first * width + columns.first) * size_;
    if (pairs_) {
      return pack_pairs({.from = reinterpret_cast<const bfloat16*>(from),
                         .width = width,
                         .rows = rows.count,
                         .columns = columns.count,
                         .to = reinterpret_cast<bfloat16*>(to),
                         .pitch = 2 * pitch});
    }
    if (size_ == sizeof(float)) {
      return pack_floats({.from = reinterpret_cast<const float*>(from),
                          .width = width,
                          .rows = rows.count,
                          .columns = columns.count,
                          .to = to,
                          .pitch = pitch});
    }
    for (Index i = 0; i < rows.count; ++i, from += width * size_, to += panel) {
      widen_(from, wide, columns.count);
      pack_floats({.from = wide, .width = width, .rows = 1, .columns = columns.count, .to = to, .pitch = pitch});
    }
  }

  const ProductFunctions& products_;
  const CastFunctions::Cast widen_;
  const Index size_;
  const bool pairs_;  ///< multiplies bfloat16
};

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
    packing_.blocks(arguments.inputs[input_], channels_, columns, rows, wide, to, pitch);
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
      packing_.blocks(wide, columns.count, {0, columns.count}, {0, count}, nullptr, to + i * block_columns, pitch);
    }
  }

  void pack_steps_before(const KernelArguments& arguments, const Columns& columns, const Rows& rows, float* wide,
                         float* to, Index pitch) const {
    for (Index done = 0; done < rows.count;) {
      const Index row = rows.first + done, step = row % steps_;
      const Index count = step == 0 ? 1 : std::min(steps_ - step, rows.count - done);
      float* const blocks = to + done * block_columns;
      if (step > 0) {
        packing_.blocks(arguments.inputs[input_], channels_, columns, {row - 1, count}, wide, blocks, pitch);
      } else if (initial_) {
        packing_.blocks(arguments.inputs[2], channels_, columns, {row / steps_, 1}, wide, blocks, pitch);
      } else {
        std::fill_n(wide, columns.count, 0.0F);
        packing_.blocks(wide, columns.count, {0, columns.count}, {0, 1}, nullptr, blocks, pitch);
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
