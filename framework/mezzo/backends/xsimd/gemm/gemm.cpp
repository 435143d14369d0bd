#include <mezzo/backends/xsimd/gemm/gemm.hpp>

#include <algorithm>
#include <limits>

#include <mezzo/backends/common/epilogue.hpp>
#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/gemm/gemm_blocking.hpp>
#include <mezzo/backends/xsimd/kernel_panels.hpp>

// A thread multiplies its share of the rows with its share of the columns. It packs some panels of columns, which stay
// in its L2 cache, and multiplies them with some rows at a time, one panel after the other: the panel stays in the L1
// cache, and the sums of a block of rows in registers. The panels that come next are fetched meanwhile. Rows of a
// transposed left factor are packed in blocks before.
namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

/// A part of an axis.
struct GemmPart {
  Index first = 0, count = 0;
};

/// GemmPart `i` of `parts` nearly equal ones.
GemmPart part_of(const GemmPart& whole, Index i, Index parts) {
  const Index first = whole.count * i / parts;
  return {whole.first + first, whole.count * (i + 1) / parts - first};
}

class Gemm final : public Kernel {
 public:
  Gemm(const KernelRequest& request, const GemmSizes& sizes, Isa isa)
      : functions_(kernels(isa).gemm),
        sizes_(sizes),
        blocking_(gemm_blocking(sizes, functions_.rows, functions_.panel, thread_count())),
        panels_((sizes.columns + functions_.panel - 1) / functions_.panel),
        biased_(has_bias(request)),
        least_(limits_of(request).least),
        threads_(thread_count()) {
    constexpr Index line = 16, overrun = 16;  // floats
    const Index piece = blocking_.piece(sizes_);
    // A line more than needed, so that panels at a distance of a power of two don't share a set of the cache.
    panel_pitch_ = piece * functions_.panel + line;
    const Index share_rows = (sizes_.rows + blocking_.row_shares - 1) / blocking_.row_shares;
    const Index chunk = std::min(blocking_.chunk_rows, share_rows);
    if (sizes_.transpose_a) {
      left_pitch_ = piece * functions_.rows + line;
      chunk_floats_ = gemm_blocks(chunk, functions_.rows) * left_pitch_ + overrun;
    } else if (blocking_.copies_rows) {
      left_pitch_ = spread_width(piece);
      chunk_floats_ = chunk * left_pitch_;
    }
    left_floats_ = round_up(chunks_of(share_rows) * chunk_floats_, line);
    own_floats_ = left_floats_ + round_up(blocking_.chunk_panels * panel_pitch_, line);
  }

  void run(const KernelArguments& arguments) override {
    const Index shares = blocking_.row_shares * blocking_.column_shares;
    parallel_ranges(shares, 1, std::min(threads_, thread_count()), [&](int thread, Index begin, Index end) {
      float* const own = floats_at(arguments, 0) + thread * own_floats_;
      for (Index i = begin; i < end; ++i) run_share(arguments, i, own);
    });
  }

  std::size_t scratch_bytes() const override { return float_bytes(threads_ * own_floats_); }

 private:
  Index chunks_of(Index rows) const { return (rows + blocking_.chunk_rows - 1) / blocking_.chunk_rows; }
  Index a_width() const { return sizes_.transpose_a ? sizes_.rows : sizes_.depth; }
  Index b_width() const { return sizes_.transpose_b ? sizes_.depth : sizes_.columns; }
  bool copies_left() const { return chunk_floats_ > 0; }

  GemmPart columns_of(const GemmPart& panels) const {
    const Index first = panels.first * functions_.panel;
    return {first, std::min(panels.count * functions_.panel, sizes_.columns - first)};
  }

  /// First number of a part of the right factor.
  const float* right(const KernelArguments& arguments, const GemmPart& depth, const GemmPart& columns) const {
    const float* const b = arguments.in<float>(1);
    return sizes_.transpose_b ? b + columns.first * b_width() + depth.first
                              : b + depth.first * b_width() + columns.first;
  }

  void run_share(const KernelArguments& arguments, Index share, float* own) const {
    const GemmPart rows = part_of({0, sizes_.rows}, share / blocking_.column_shares, blocking_.row_shares);
    const GemmPart panels = part_of({0, panels_}, share % blocking_.column_shares, blocking_.column_shares);
    if (rows.count == 0 || panels.count == 0) return;
    const Index chunks = (panels.count + blocking_.chunk_panels - 1) / blocking_.chunk_panels;
    float* const packed = own + left_floats_;
    const auto depth_of = [&](Index term) { return part_of({0, sizes_.depth}, term, blocking_.terms); };
    for (Index term = 0; term < blocking_.terms; ++term) {
      if (copies_left()) pack_left(arguments, depth_of(term), rows, own);
      for (Index i = 0; i < chunks; ++i) {
        const GemmPart chunk = part_of(panels, i, chunks);
        pack_right(arguments, depth_of(term), chunk, packed);
        RowsAhead ahead;
        if (i + 1 < chunks) {
          ahead = rows_ahead(arguments, depth_of(term), part_of(panels, i + 1, chunks));
        } else if (term + 1 < blocking_.terms) {
          ahead = rows_ahead(arguments, depth_of(term + 1), part_of(panels, 0, chunks));
        }
        multiply(arguments, term, rows, chunk, own, packed, ahead);
      }
    }
  }

  /// Copies the rows of a share, chunk after chunk.
  void pack_left(const KernelArguments& arguments, const GemmPart& depth, const GemmPart& rows, float* to) const {
    const Index chunks = chunks_of(rows.count);
    for (Index i = 0; i < chunks; ++i, to += chunk_floats_) {
      const GemmPart chunk = part_of(rows, i, chunks);
      if (sizes_.transpose_a) {
        functions_.pack_left({.from = arguments.in<float>(0) + depth.first * a_width() + chunk.first,
                              .width = a_width(),
                              .depth = depth.count,
                              .count = chunk.count,
                              .readable = sizes_.rows - chunk.first,
                              .to = to,
                              .pitch = left_pitch_});
        continue;
      }
      for (Index row = 0; row < chunk.count; ++row) {
        const float* const from = arguments.in<float>(0) + (chunk.first + row) * a_width() + depth.first;
        std::copy_n(from, depth.count, to + row * left_pitch_);
      }
    }
  }

  void pack_right(const KernelArguments& arguments, const GemmPart& depth, const GemmPart& panels, float* to) const {
    const GemmPart columns = columns_of(panels);
    const auto pack = sizes_.transpose_b ? functions_.pack_transposed_right : functions_.pack_right;
    pack({.from = right(arguments, depth, columns),
          .width = b_width(),
          .depth = depth.count,
          .count = columns.count,
          .to = to,
          .pitch = panel_pitch_});
  }

  RowsAhead rows_ahead(const KernelArguments& arguments, const GemmPart& depth, const GemmPart& panels) const {
    const GemmPart columns = columns_of(panels);
    constexpr Index size = sizeof(float);
    return {.row = reinterpret_cast<const char*>(right(arguments, depth, columns)),
            .rows = sizes_.transpose_b ? columns.count : depth.count,
            .pitch = b_width() * size,
            .bytes = (sizes_.transpose_b ? depth.count : columns.count) * size};
  }

  /// Multiplies the rows of a share with packed panels.
  void multiply(const KernelArguments& arguments, Index term, const GemmPart& rows, const GemmPart& panels,
                const float* left, const float* packed, RowsAhead ahead) const {
    const GemmPart depth = part_of({0, sizes_.depth}, term, blocking_.terms);
    const Index chunks = chunks_of(rows.count), blocks = gemm_blocks(rows.count, functions_.rows) * panels.count;
    constexpr Index line = 64;
    const Index lines = (ahead.rows * (ahead.bytes / line + 1) + blocks - 1) / blocks;
    const bool last = term + 1 == blocking_.terms;
    for (Index i = 0; i < chunks; ++i, left += chunk_floats_) {
      const GemmPart chunk = part_of(rows, i, chunks);
      const float* const a = copies_left() ? left : arguments.in<float>(0) + chunk.first * a_width() + depth.first;
      for (Index panel = 0; panel < panels.count; ++panel) {
        const GemmPart columns = columns_of({panels.first + panel, 1});
        const auto product = sizes_.transpose_a ? functions_.packed_product : functions_.product;
        product({.a = a,
                 .a_width = copies_left() ? left_pitch_ : a_width(),
                 .b = packed + panel * panel_pitch_,
                 .out = arguments.out<float>(0) + chunk.first * sizes_.columns + columns.first,
                 .out_width = sizes_.columns,
                 .rows = chunk.count,
                 .depth = depth.count,
                 .columns = columns.count,
                 .accumulate = term > 0,
                 .bias = biased_ && last ? arguments.in<float>(2) + columns.first : nullptr,
                 .least = last ? least_ : -std::numeric_limits<float>::infinity(),
                 .ahead = &ahead,
                 .lines = lines});
      }
    }
  }

  const GemmFunctions& functions_;
  const GemmSizes sizes_;
  const GemmBlocking blocking_;
  const Index panels_;
  const bool biased_;
  const float least_;
  const int threads_;
  Index panel_pitch_ = 0, left_pitch_ = 0, chunk_floats_ = 0;  ///< chunk_floats_: of a chunk of copied rows
  Index left_floats_ = 0, own_floats_ = 0;                     ///< of a thread
};

std::unique_ptr<Kernel> make_gemm(const KernelRequest& request, Isa isa, std::string& reason) {
  for (const auto* specs : {&request.inputs, &request.outputs}) {
    for (const Spec& spec : *specs) {
      if (spec.dtype != DType::float32) return decline(reason, "takes float32; got {}", spec.dtype);
    }
  }
  if (has_wide_epilogue(request)) return decline(reason, "takes no residual and no upper limit");
  const Shape &a = request.inputs[0].shape, &b = request.inputs[1].shape;
  if (b.size() != 2) return decline(reason, "takes one matrix as the right operand; got shape {}", b);
  GemmSizes sizes;
  sizes.transpose_a = request.attributes.get_or<bool>("transpose_a", false);
  sizes.transpose_b = request.attributes.get_or<bool>("transpose_b", false);
  sizes.depth = b[sizes.transpose_b ? 1 : 0];
  sizes.columns = b[sizes.transpose_b ? 0 : 1];
  sizes.rows = element_count(a) / sizes.depth;
  return std::make_unique<Gemm>(request, sizes, isa);
}

}  // namespace

Entries gemm_entries() { return {entry<make_gemm>("matmul")}; }

}  // namespace mezzo::xsimd_kernels
