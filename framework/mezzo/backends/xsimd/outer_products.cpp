#include <mezzo/backends/xsimd/outer_products.hpp>

#include <algorithm>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/normalized_input.hpp>
#include <mezzo/backends/xsimd/pointwise.hpp>
#include <mezzo/backends/xsimd/prefetch.hpp>
#include <mezzo/backends/xsimd/products.hpp>
#include <mezzo/backends/xsimd/wide_operand.hpp>
#include <mezzo/backends/xsimd/window_products.hpp>
#include <mezzo/compiler/work.hpp>

// x^T g has many rows to sum over and a small result. A piece of rows of x is copied to scratch memory in blocks of
// columns, then one panel of columns of g after the other, so that the product reads both in the order of memory.
// Rows of bfloat16 are copied in pairs if the instruction set multiplies them, else as float32.
namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

struct Columns {
  Index first = 0, count = 0;
};

struct Rows {
  Index first = 0, count = 0;
};

class OuterProducts final : public Kernel {
 public:
  OuterProducts(const KernelRequest& request, bool normalizes, Isa isa)
      : products_(kernels(isa).products),
        widen_(kernels(isa).cast.from_storage[request.inputs[0].dtype].float32),
        size_(size_of(request.inputs[0].dtype)),
        pairs_(request.inputs[0].dtype == DType::bfloat16 && multiplies_pairs(products_)),
        channels_(request.outputs[0].shape[request.outputs[0].shape.size() - 2]),
        filters_(request.outputs[0].shape.back()),
        rows_(element_count(request.inputs[1].shape) / filters_),
        columns_(round_up(filters_, products_.panel)),
        threads_(thread_count()),
        by_channels_(channels_ > filters_),
        input_(request, normalizes, isa, layout_) {
    // Sums are split by rows into blocks, whose number doesn't depend on the number of threads, so that the sums don't.
    // The blocks of a large result or of few rows take longer to add than its columns to compute one after the other.
    constexpr Index most_floats = 32768, most_blocks = 16, fewest_rows = 2048;
    blocks_ = std::max<Index>(1, std::min({most_blocks, rows_ / fewest_rows, most_blocks * most_floats / floats()}));
    if (blocks_ < 4) blocks_ = 1;
    const Index block_rows = (rows_ + blocks_ - 1) / blocks_;
    const Index pieces = std::max<Index>(1, (block_rows + most_rows() / 2) / most_rows());
    piece_ = round_up((block_rows + pieces - 1) / pieces, 2);
    const Index parts = by_channels_ ? round_up(channels_, block_columns) / block_columns : columns_ / products_.panel;
    groups_ = blocks_ > 1 ? 1 : std::min(threads_, parts);  // each copies the other factor
    // A line more than needed, so that blocks at a distance of a power of two don't share a set of the cache.
    const Index words = pairs_ ? piece_ / 2 : piece_;
    block_pitch_ = words * block_columns + line;
    panel_pitch_ = words * products_.panel + line;
    Index x_blocks = 0;
    for (Index group = 0; group < groups_; ++group) {
      x_blocks = std::max(x_blocks, round_up(channels_of(group).count, block_columns) / block_columns);
    }
    x_floats_ = x_blocks * block_pitch_;
    const Spec& out = request.outputs[0];
    direct_ = blocks_ == 1 && columns_ == filters_ && out.dtype == DType::float32;
    if (!direct_) sums_ = layout_.take(bytes(blocks_ * floats()));
    own_floats_ = round_up(x_floats_ + panel_pitch_ + wide_rows * std::max(channels_, filters_), line);
    own_ = layout_.take(bytes(threads_ * own_floats_));
    result_ = WideResult(request, layout_);
  }

  void run(const KernelArguments& arguments) override {
    auto* const scratch = static_cast<char*>(arguments.scratch);
    float* const sums = direct_ ? arguments.out<float>(0) : reinterpret_cast<float*>(scratch + sums_);
    input_.prepare(arguments);
    const Index items = blocks_ * groups_;
    const auto threads = static_cast<int>(std::min<Index>({threads_, thread_count(), items}));
    parallel_threads(threads, [&](int thread, int count) {
      float* const own = reinterpret_cast<float*>(scratch + own_) + thread * own_floats_;
      for (Index i = items * thread / count; i < items * (thread + 1) / count; ++i) {
        run_item(arguments, i / groups_, i % groups_, sums + i / groups_ * floats(), own);
      }
    });
    if (direct_) return;
    float* const wide = result_.place(arguments);
    parallel_for(channels_, grain_of(filters_ * blocks_), [&](Index begin, Index end) {
      for (Index c = begin; c < end; ++c) {
        sum_blocks(sums + c * columns_, floats(), blocks_, filters_, wide + c * filters_);
      }
    });
    result_.finish(arguments);
  }

  std::size_t scratch_bytes() const override { return layout_.size(); }
  std::string detail() const override { return pairs_ ? "bfloat16 products" : ""; }

 private:
  static constexpr Index line = 16;  // floats of a cache line

  static std::size_t bytes(Index floats) { return static_cast<std::size_t>(floats) * sizeof(float); }

  /// Floats of the sums of a block.
  Index floats() const { return channels_ * columns_; }

  /// A group's share of `count` columns, in whole units.
  Columns share(Index count, Index unit, Index group) const {
    const Index units = round_up(count, unit) / unit;
    const Index first = units * group / groups_ * unit;
    return {first, std::min(count, units * (group + 1) / groups_ * unit) - first};
  }
  Columns channels_of(Index group) const {
    return by_channels_ ? share(channels_, block_columns, group) : Columns{0, channels_};
  }
  Columns filters_of(Index group) const {
    return by_channels_ ? Columns{0, filters_} : share(filters_, products_.panel, group);
  }

  /// Computes the sums of a block of rows for a group of columns.
  void run_item(const KernelArguments& arguments, Index block, Index group, float* sums, float* own) const {
    const Columns of_x = channels_of(group), of_g = filters_of(group);
    float *const x = own, *const g = x + x_floats_, *const wide = g + panel_pitch_;
    const char *const from_x = arguments.in<char>(0), *const from_g = arguments.in<char>(1);
    const Index first = rows_ * block / blocks_, last = rows_ * (block + 1) / blocks_;
    const Index products = round_up(of_x.count, block_columns) / block_columns;
    const Index panels = round_up(of_g.count, products_.panel) / products_.panel;
    const auto panel_at = [&](Index panel) {
      const Index column = panel * products_.panel;
      return Columns{of_g.first + column, std::min(products_.panel, of_g.count - column)};
    };
    for (Index row = first; row < last; row += piece_) {
      const Rows rows{row, std::min(piece_, last - row)};
      const Rows next{row + rows.count, std::min(piece_, last - row - rows.count)};
      if (input_) {
        pack_normalized(arguments, of_x, rows, wide, x);
      } else {
        pack<&PackFunctions<float>::blocks, &PackFunctions<bfloat16>::blocks>(from_x, channels_, of_x, rows, wide, x,
                                                                              block_pitch_, block_columns);
      }
      // Reading takes as long as a small product.
      Prefetch next_x = groups_ > 1 ? Prefetch{} : lines_of(from_x, channels_, next);
      const Index share = next_x.lines() / panels + 1;
      for (Index i = 0; i < panels; ++i) {
        const Columns panel = panel_at(i);
        pack<&PackFunctions<float>::panels, &PackFunctions<bfloat16>::panels>(from_g, filters_, panel, rows, wide, g,
                                                                              panel_pitch_, products_.panel);
        const auto next_g = [&](Index line_of_row) {
          const Index column = line_of_row * Prefetch::line_bytes / size_;
          if (column >= products_.panel) return Prefetch{};
          return i + 1 < panels ? lines_of(from_g, filters_, rows, panel_at(i + 1).first + column)
                                : lines_of(from_g, filters_, next, of_g.first + column);
        };
        PrefetchQueue ahead({next_g(0), next_g(1), next_x.take(share)}, products);
        for (Index channel = 0; channel < of_x.count; channel += block_columns) {
          multiply(
              x + channel / block_columns * block_pitch_, g, sums + (of_x.first + channel) * columns_ + panel.first,
              std::min(block_columns, of_x.count - channel), panel.count, rows.count, row > first, ahead.next_turn());
        }
      }
    }
  }

  void multiply(const float* x, const float* g, float* out, Index rows, Index columns, Index depth, bool accumulate,
                const Prefetch& ahead) const {
    if (pairs_) {
      products_.transposed_pair_product({.a = reinterpret_cast<const bfloat16*>(x),
                                         .a_width = 2 * block_columns,
                                         .b = reinterpret_cast<const bfloat16*>(g),
                                         .out = out,
                                         .out_width = columns_,
                                         .rows = rows,
                                         .pairs = (depth + 1) / 2,
                                         .accumulate = accumulate,
                                         .ahead = ahead});
    } else {
      products_.transposed_product({.a = x,
                                    .a_width = block_columns,
                                    .b = g,
                                    .b_width = products_.panel,
                                    .out = out,
                                    .out_width = columns_,
                                    .rows = rows,
                                    .depth = depth,
                                    .accumulate = accumulate,
                                    .ahead = ahead,
                                    .columns = columns});
    }
  }

  /// About the most rows of a piece. With more, fewer pieces read and write the sums. But copies of x take longer to
  /// read again for each panel, and longer sums of float32 round more. Fitted on Zen 5 with 1 MiB of L2 cache, 64 to
  /// 2048 channels and filters.
  Index most_rows() const {
    constexpr Index most_words = 1 << 19, fewest = 64, most_of_pairs = 1600, most_of_floats = 400;
    const Index channels = by_channels_ ? channels_ / 2 : channels_;  // if two threads share them
    return pairs_ ? std::clamp(2 * most_words / channels, 2 * fewest, most_of_pairs)
                  : std::clamp(most_words / channels, fewest, most_of_floats);
  }

  /// Lines of whole rows.
  Prefetch lines_of(const char* from, Index width, const Rows& rows) const {
    from += rows.first * width * size_;
    return {from, from + rows.count * width * size_};
  }

  /// A line of each row, from a column on.
  Prefetch lines_of(const char* from, Index width, const Rows& rows, Index column) const {
    from += (rows.first * width + column) * size_;
    return {from, from + rows.count * width * size_, width * size_};
  }

  /// Copies columns of rows, `width` apart, to panels of `panel` columns. Halves that aren't multiplied in pairs are
  /// widened one row after the other in `wide`.
  template <PackFunctions<float>::Pack PackFunctions<float>::*floats,
            PackFunctions<bfloat16>::Pack PackFunctions<bfloat16>::*pairs>
  void pack(const char* from, Index width, const Columns& columns, const Rows& rows, float* wide, float* to,
            Index pitch, Index panel) const {
    from += (rows.first * width + columns.first) * size_;
    if (pairs_) {
      return (products_.pack_pairs.*pairs)({.from = reinterpret_cast<const bfloat16*>(from),
                                            .width = width,
                                            .rows = rows.count,
                                            .columns = columns.count,
                                            .to = reinterpret_cast<bfloat16*>(to),
                                            .pitch = 2 * pitch});
    }
    if (size_ == sizeof(float)) {
      return (products_.pack.*floats)({.from = reinterpret_cast<const float*>(from),
                                       .width = width,
                                       .rows = rows.count,
                                       .columns = columns.count,
                                       .to = to,
                                       .pitch = pitch});
    }
    for (Index i = 0; i < rows.count; ++i, from += width * size_, to += panel) {
      widen_(from, wide, columns.count);
      (products_.pack.*
       floats)({.from = wide, .width = width, .rows = 1, .columns = columns.count, .to = to, .pitch = pitch});
    }
  }

  /// Copies columns of normalized rows of x to blocks, some rows at a time by way of `wide`.
  void pack_normalized(const KernelArguments& arguments, const Columns& columns, const Rows& rows, float* wide,
                       float* to) const {
    const float* const from = arguments.in<float>(0) + rows.first * channels_ + columns.first;
    const Index together = columns.count == channels_ ? wide_rows : 1;
    for (Index i = 0; i < rows.count; i += together) {
      const Index count = std::min(together, rows.count - i);
      input_.compute(arguments, from + i * channels_, columns.first, columns.count, count, wide);
      products_.pack.blocks({.from = wide,
                             .width = columns.count,
                             .rows = count,
                             .columns = columns.count,
                             .to = to + i * block_columns,
                             .pitch = block_pitch_});
    }
  }

  static constexpr Index wide_rows = 16;  ///< rows that are normalized at a time

  const ProductFunctions& products_;
  const CastFunctions::Cast widen_;
  const Index size_;
  const bool pairs_;  ///< multiplies bfloat16
  const Index channels_, filters_, rows_, columns_, threads_;
  const bool by_channels_;  ///< groups share the columns of x, else those of g
  Index piece_ = 0;         ///< rows that are copied at a time
  bool direct_ = false;     ///< sums are made in the output
  Index blocks_ = 1, groups_ = 1, block_pitch_ = 0, panel_pitch_ = 0, x_floats_ = 0, own_floats_ = 0;
  ScratchLayout layout_;
  const NormalizedInput input_;
  std::size_t sums_ = 0, own_ = 0;
  WideResult result_;
};

bool takes_dtypes(const KernelRequest& request, std::string& reason) {
  for (const Spec* spec : {&request.inputs[0], &request.inputs[1], &request.outputs[0]}) {
    if (!is_stored(spec->dtype)) {
      decline_dtype(reason, spec->dtype);
      return false;
    }
  }
  return true;
}

std::unique_ptr<Kernel> make_kernel_gradient_of_convolution(const KernelRequest& request, Isa isa,
                                                            std::string& reason) {
  const Shape& kernel = request.outputs[0].shape;
  if (!is_pointwise(request.attributes, kernel)) return make_window_products(request, isa, reason);
  if (!takes_dtypes(request, reason) || !has_many_pixels(request, kernel, reason)) return nullptr;
  return std::make_unique<OuterProducts>(request, false, isa);
}

std::unique_ptr<Kernel> make_kernel_gradient_of_normalized(const KernelRequest& request, Isa isa, std::string& reason) {
  const Shape& kernel = request.outputs[0].shape;
  if (!is_pointwise(request.attributes, kernel))
    return decline(reason, "takes 1 x 1 kernels without strides, padding or groups");
  for (const Spec& spec : {request.inputs[0], request.inputs[1], request.outputs[0]}) {
    if (spec.dtype != DType::float32) return decline(reason, "takes float32; got {}", spec.dtype);
  }
  if (!has_many_pixels(request, kernel, reason)) return nullptr;
  return std::make_unique<OuterProducts>(request, true, isa);
}

/// Gives no reason: it is meant for few of the products.
std::unique_ptr<Kernel> make_kernel_gradient_of_dense(const KernelRequest& request, Isa isa, std::string&) {
  const Shape &x = request.inputs[0].shape, &out = request.outputs[0].shape;
  if (!request.attributes.get_or<bool>("transpose_a", false) || request.attributes.get_or<bool>("transpose_b", false) ||
      x.size() != 2 || request.inputs[1].shape.size() != 2 || request.inputs.size() != 2 || has_relu(request)) {
    return nullptr;
  }
  std::string unused;
  if (!takes_dtypes(request, unused) || x[0] < fewest_rows || std::min(out[0], out[1]) < fewest_channels) {
    return nullptr;
  }
  return std::make_unique<OuterProducts>(request, false, isa);
}

}  // namespace

Entries outer_product_entries() {
  return {entry<make_kernel_gradient_of_convolution>("conv2d_kernel_gradient"),
          entry<make_kernel_gradient_of_normalized>("normalized_conv2d_kernel_gradient"),
          entry<make_kernel_gradient_of_dense>("matmul")};
}

}  // namespace mezzo::xsimd_kernels
