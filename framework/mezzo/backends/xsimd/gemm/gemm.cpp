#include <mezzo/backends/xsimd/gemm/gemm.hpp>

#include <algorithm>
#include <limits>

#include <mezzo/backends/common/epilogue.hpp>
#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/gemm/gemm_blocking.hpp>
#include <mezzo/backends/xsimd/kernel_panels.hpp>
#include <mezzo/backends/xsimd/wide_operand.hpp>
#include <mezzo/compiler/pass_attributes.hpp>

// A thread multiplies its share of the rows with its share of the columns. It packs some panels of columns, which stay
// in its L2 cache, and multiplies them with some rows at a time, one panel after the other: the panel stays in the L1
// cache, and the sums of a block of rows in registers. The panels that come next are fetched meanwhile. Rows of a
// transposed left factor are packed in blocks before. If the right factor is smaller than the left one, all of its
// panels are packed first, and rows are copied chunk after chunk. Factors in bfloat16 are widened in these copies,
// right factors in float32 are rounded in them if the product is one of bfloat16, and results are rounded in registers.
namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

/// True if the right factor is rounded to bfloat16 while it is packed.
bool rounds_right(const KernelRequest& request) { return request.attributes.has(detail::rounds_right); }

/// A part of an axis.
struct GemmPart {
  Index first = 0, count = 0;
};

/// GemmPart `i` of `parts` nearly equal ones.
GemmPart part_of(const GemmPart& whole, Index i, Index parts) {
  const Index first = whole.count * i / parts;
  return {whole.first + first, whole.count * (i + 1) / parts - first};
}

/// Products that are computed at a time: of a piece of the depth, for some rows and panels.
struct GemmTile {
  Index term = 0;
  GemmPart rows, panels;
};

class Gemm final : public Kernel {
 public:
  Gemm(const KernelRequest& request, const GemmSizes& sizes, Isa isa)
      : functions_(kernels(isa).gemm),
        sizes_(sizes),
        blocking_(gemm_blocking(sizes, functions_.rows, functions_.panel, thread_count())),
        inside_(blocking_.keeps_sums ? 1 : blocking_.terms),
        panels_((sizes.columns + functions_.panel - 1) / functions_.panel),
        rounds_(request.outputs[0].dtype == DType::bfloat16),
        rounds_right_(rounds_right(request)),
        biased_(has_bias(request)),
        least_(limits_of(request).least),
        threads_(thread_count()),
        left_(packing_of(request, 0)),
        right_(packing_of(request, 1)),
        left_bytes_(size_of(request.inputs[0].dtype)),
        right_bytes_(size_of(request.inputs[1].dtype)) {
    if (biased_) bias_ = WideOperand(request, 2, layout_);
    constexpr Index line = 16, overrun = 16;  // floats
    const Index piece = blocking_.piece(sizes_);
    const Index share_rows = (sizes_.rows + blocking_.row_shares - 1) / blocking_.row_shares;
    const Index share_panels = (panels_ + blocking_.column_shares - 1) / blocking_.column_shares;
    const Index chunk = std::min(blocking_.chunk_rows, share_rows);
    // A line more than needed, so that panels at a distance of a power of two don't share a set of the cache.
    panel_pitch_ = piece * functions_.panel + line;
    if (sizes_.transpose_a) {
      left_pitch_ = piece * functions_.rows + line;
      chunk_floats_ = gemm_blocks(chunk, functions_.rows) * left_pitch_ + overrun;
    } else if (blocking_.copies_rows) {
      left_pitch_ = spread_width(piece);
      chunk_floats_ = chunk * left_pitch_;
    }
    const bool keeps_panels = blocking_.keeps_panels;
    const Index tile_panels = keeps_panels ? share_panels : std::min(blocking_.chunk_panels, share_panels);
    piece_floats_ = keeps_panels ? tile_panels * panel_pitch_ : chunks_of(share_rows) * chunk_floats_;
    const Index left_floats = keeps_panels ? chunk_floats_ : inside_ * piece_floats_;
    const Index right_floats = (keeps_panels ? inside_ : 1) * tile_panels * panel_pitch_;
    right_at_ = round_up(left_floats, line);
    sums_at_ = right_at_ + round_up(right_floats, line);
    own_floats_ = sums_at_;
    if (rounds_ && blocking_.terms > 1) {
      sums_width_ = spread_width((blocking_.keeps_sums ? share_panels : tile_panels) * functions_.panel);
      own_floats_ += (keeps_panels && !blocking_.keeps_sums ? chunk : share_rows) * sums_width_;
    }
    own_ = layout_.take(float_bytes(threads_ * own_floats_));
  }

  void run(const KernelArguments& arguments) override {
    const Index shares = blocking_.row_shares * blocking_.column_shares;
    const float* const bias = biased_ ? bias_.read(arguments) : nullptr;
    parallel_ranges(shares, 1, std::min(threads_, thread_count()), [&](int thread, Index begin, Index end) {
      float* const own = floats_at(arguments, own_) + thread * own_floats_;
      for (Index i = begin; i < end; ++i) run_share(arguments, bias, i, own);
    });
  }

  std::size_t scratch_bytes() const override { return layout_.size(); }

 private:
  const GemmPacking& packing_of(const KernelRequest& request, std::size_t input) const {
    return request.inputs[input].dtype == DType::float32 ? functions_.float32 : functions_.bfloat16;
  }

  Index chunks_of(Index rows) const { return (rows + blocking_.chunk_rows - 1) / blocking_.chunk_rows; }
  Index a_width() const { return sizes_.transpose_a ? sizes_.rows : sizes_.depth; }
  Index b_width() const { return sizes_.transpose_b ? sizes_.depth : sizes_.columns; }
  bool copies_left() const { return chunk_floats_ > 0; }
  GemmPart depth_of(Index term) const { return part_of({0, sizes_.depth}, term, blocking_.terms); }

  GemmPart columns_of(const GemmPart& panels) const {
    const Index first = panels.first * functions_.panel;
    return {first, std::min(panels.count * functions_.panel, sizes_.columns - first)};
  }

  /// First number of a part of the left factor.
  const char* left(const KernelArguments& arguments, const GemmPart& depth, const GemmPart& rows) const {
    const Index at = sizes_.transpose_a ? depth.first * a_width() + rows.first : rows.first * a_width() + depth.first;
    return arguments.in<char>(0) + at * left_bytes_;
  }

  /// First number of a part of the right factor.
  const char* right(const KernelArguments& arguments, const GemmPart& depth, const GemmPart& columns) const {
    const Index at =
        sizes_.transpose_b ? columns.first * b_width() + depth.first : depth.first * b_width() + columns.first;
    return arguments.in<char>(1) + at * right_bytes_;
  }

  /// Chunks of the factor that isn't kept.
  Index chunks_in(const GemmTile& share) const {
    return blocking_.keeps_panels ? chunks_of(share.rows.count)
                                  : (share.panels.count + blocking_.chunk_panels - 1) / blocking_.chunk_panels;
  }

  /// Tile `step` of a share, whose chunks are multiplied with `inside_` pieces of the depth each.
  GemmTile tile_of(const GemmTile& share, Index step, Index chunks) const {
    const Index chunk = step / inside_ % chunks;
    GemmTile tile = share;
    tile.term = step / (inside_ * chunks) * inside_ + step % inside_;
    GemmPart& part = blocking_.keeps_panels ? tile.rows : tile.panels;
    part = part_of(part, chunk, chunks);
    return tile;
  }

  void run_share(const KernelArguments& arguments, const float* bias, Index number, float* own) const {
    const GemmTile share{0, part_of({0, sizes_.rows}, number / blocking_.column_shares, blocking_.row_shares),
                         part_of({0, panels_}, number % blocking_.column_shares, blocking_.column_shares)};
    if (share.rows.count == 0 || share.panels.count == 0) return;
    const Index chunks = chunks_in(share), steps = blocking_.terms * chunks;
    for (Index step = 0; step < steps; ++step) {
      const GemmTile tile = tile_of(share, step, chunks);
      if (step % (inside_ * chunks) == 0) pack_kept(arguments, tile.term, share, own);
      const Index place = step % inside_ * piece_floats_;  // of the kept factor's piece
      float *left = own, *panels = own + right_at_, *sums = own + sums_at_;
      if (blocking_.keeps_panels) {
        pack_left(arguments, depth_of(tile.term), tile.rows, left);
        panels += place;
      } else {
        pack_right(arguments, depth_of(tile.term), tile.panels, panels);
        left += place;
      }
      if (blocking_.keeps_sums) {
        sums += (tile.rows.first - share.rows.first) * sums_width_ +
                (tile.panels.first - share.panels.first) * functions_.panel;
      }
      const RowsAhead ahead = step + 1 < steps ? rows_ahead(arguments, tile_of(share, step + 1, chunks)) : RowsAhead{};
      multiply(arguments, tile, {.a = left, .b = panels, .sums = sums, .bias = bias}, ahead);
    }
  }

  /// Copies the factor that is kept, for the pieces of the depth from `term` on that are inside.
  void pack_kept(const KernelArguments& arguments, Index term, const GemmTile& share, float* own) const {
    for (Index i = 0; i < inside_; ++i) {
      if (blocking_.keeps_panels) {
        pack_right(arguments, depth_of(term + i), share.panels, own + right_at_ + i * piece_floats_);
      } else {
        pack_left(arguments, depth_of(term + i), share.rows, own + i * piece_floats_);
      }
    }
  }

  /// Copies rows, chunk after chunk.
  void pack_left(const KernelArguments& arguments, const GemmPart& depth, const GemmPart& rows, float* to) const {
    if (!copies_left()) return;
    const auto pack = sizes_.transpose_a ? left_.left : left_.rows;
    const Index chunks = chunks_of(rows.count);
    for (Index i = 0; i < chunks; ++i, to += chunk_floats_) {
      const GemmPart chunk = part_of(rows, i, chunks);
      pack({.from = left(arguments, depth, chunk),
            .width = a_width(),
            .depth = depth.count,
            .count = chunk.count,
            .readable = sizes_.rows - chunk.first,
            .to = to,
            .pitch = left_pitch_});
    }
  }

  void pack_right(const KernelArguments& arguments, const GemmPart& depth, const GemmPart& panels, float* to) const {
    const GemmPart columns = columns_of(panels);
    const auto pack = sizes_.transpose_b ? right_.transposed_right : right_.right;
    pack({.from = right(arguments, depth, columns),
          .width = b_width(),
          .depth = depth.count,
          .count = columns.count,
          .to = to,
          .pitch = panel_pitch_,
          .rounds = rounds_right_});
  }

  /// Rows of the factor that isn't kept.
  RowsAhead rows_ahead(const KernelArguments& arguments, const GemmTile& tile) const {
    const GemmPart depth = depth_of(tile.term), columns = columns_of(tile.panels);
    if (blocking_.keeps_panels) {
      return {.row = left(arguments, depth, tile.rows),
              .rows = sizes_.transpose_a ? depth.count : tile.rows.count,
              .pitch = a_width() * left_bytes_,
              .bytes = (sizes_.transpose_a ? tile.rows.count : depth.count) * left_bytes_};
    }
    return {.row = right(arguments, depth, columns),
            .rows = sizes_.transpose_b ? columns.count : depth.count,
            .pitch = b_width() * right_bytes_,
            .bytes = (sizes_.transpose_b ? depth.count : columns.count) * right_bytes_};
  }

  /// Multiplies rows with packed panels. `own`: copies of rows and the panels, sums of the tile that are rounded at the
  /// end, and the bias of all columns.
  void multiply(const KernelArguments& arguments, const GemmTile& tile, const GemmPanel& own, RowsAhead ahead) const {
    const GemmPart depth = depth_of(tile.term);
    const Index chunks = chunks_of(tile.rows.count);
    const Index blocks = gemm_blocks(tile.rows.count, functions_.rows) * tile.panels.count;
    constexpr Index line = 64;
    const bool last = tile.term + 1 == blocking_.terms;
    const auto product = sizes_.transpose_a ? functions_.packed_product : functions_.product;
    GemmPanel p{.a_width = copies_left() ? left_pitch_ : a_width(),
                .sums_width = rounds_ ? sums_width_ : sizes_.columns,
                .rounded_width = sizes_.columns,
                .depth = depth.count,
                .accumulate = tile.term > 0,
                .least = last ? least_ : -std::numeric_limits<float>::infinity(),
                .ahead = &ahead,
                .lines = (ahead.rows * (ahead.bytes / line + 1) + blocks - 1) / blocks};
    for (Index i = 0; i < chunks; ++i) {
      const GemmPart chunk = part_of(tile.rows, i, chunks);
      p.a = copies_left() ? own.a + i * chunk_floats_ : reinterpret_cast<const float*>(left(arguments, depth, chunk));
      p.rows = chunk.count;
      for (Index panel = 0; panel < tile.panels.count; ++panel) {
        const GemmPart columns = columns_of({tile.panels.first + panel, 1});
        const Index at = chunk.first * sizes_.columns + columns.first;
        p.b = own.b + panel * panel_pitch_;
        p.sums = rounds_ ? own.sums + (chunk.first - tile.rows.first) * sums_width_ + panel * functions_.panel
                         : arguments.out<float>(0) + at;
        p.rounded = rounds_ && last ? arguments.out<bfloat16>(0) + at : nullptr;
        p.columns = columns.count;
        p.bias = biased_ && last ? own.bias + columns.first : nullptr;
        product(p);
      }
    }
  }

  const GemmFunctions& functions_;
  const GemmSizes sizes_;
  const GemmBlocking blocking_;
  const Index inside_;  ///< pieces of the depth that a chunk is multiplied with before the next chunk
  const Index panels_;
  const bool rounds_;  ///< writes bfloat16
  const bool rounds_right_;
  const bool biased_;
  const float least_;
  const int threads_;
  const GemmPacking &left_, &right_;
  const Index left_bytes_, right_bytes_;  ///< of a number
  ScratchLayout layout_;
  WideOperand bias_;
  std::size_t own_ = 0;                                        ///< offset of the threads' memory
  Index panel_pitch_ = 0, left_pitch_ = 0, chunk_floats_ = 0;  ///< chunk_floats_: of a chunk of copied rows
  Index piece_floats_ = 0;                                     ///< of a piece of the factor that is kept
  Index right_at_ = 0, sums_at_ = 0, own_floats_ = 0;          ///< in a thread's memory, and its size
  Index sums_width_ = 0;
};

std::unique_ptr<Kernel> make_gemm(const KernelRequest& request, Isa isa, std::string& reason) {
  for (const auto* specs : {&request.inputs, &request.outputs}) {
    for (const Spec& spec : *specs) {
      if (spec.dtype != DType::float32 && spec.dtype != DType::bfloat16)
        return decline(reason, "takes float32 and bfloat16; got {}", spec.dtype);
    }
  }
  if (rounds_right(request) && request.inputs[1].dtype != DType::float32)
    return decline(reason, "rounds right operands in float32; got {}", request.inputs[1].dtype);
  if (has_wide_epilogue(request)) return decline(reason, "takes no residual and no upper limit");
  const Shape &a = request.inputs[0].shape, &b = request.inputs[1].shape;
  if (b.size() != 2) return decline(reason, "takes one matrix as the right operand; got shape {}", b);
  GemmSizes sizes;
  sizes.transpose_a = request.attributes.get_or<bool>("transpose_a", false);
  sizes.transpose_b = request.attributes.get_or<bool>("transpose_b", false);
  sizes.depth = b[sizes.transpose_b ? 1 : 0];
  sizes.columns = b[sizes.transpose_b ? 0 : 1];
  sizes.rows = element_count(a) / sizes.depth;
  sizes.narrow_a = request.inputs[0].dtype == DType::bfloat16;
  return std::make_unique<Gemm>(request, sizes, isa);
}

}  // namespace

Entries gemm_entries() { return {entry<make_gemm>("matmul")}; }

}  // namespace mezzo::xsimd_kernels
