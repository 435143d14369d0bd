#include <mezzo/backends/xsimd/outer_products.hpp>

#include <algorithm>
#include <array>
#include <vector>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/kernel_panels.hpp>
#include <mezzo/backends/xsimd/left_factor.hpp>
#include <mezzo/backends/xsimd/pointwise.hpp>
#include <mezzo/backends/xsimd/products.hpp>
#include <mezzo/backends/xsimd/wide_operand.hpp>
#include <mezzo/backends/xsimd/window_products.hpp>
#include <mezzo/compiler/work.hpp>

// x^T g has many rows to sum over and a small result. A piece of rows of x is copied to scratch memory in blocks of
// columns, then multiplied with one panel of columns of g after the other, so that the product reads both in the order
// of memory. Rows of bfloat16 are copied in pairs if the instruction set multiplies them, else as float32.
namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;
using Factor = LeftFactor::Kind;

class OuterProducts final : public Kernel {
 public:
  /// Output 0 is x^T g with input 0 as x, output 1, if there is one, with the last input. g is input 1.
  OuterProducts(const KernelRequest& request, Factor factor, Isa isa)
      : products_(kernels(isa).products),
        packing_(request.inputs[1].dtype, isa),
        filters_(request.outputs[0].shape.back()),
        rows_(element_count(request.inputs[1].shape) / filters_),
        columns_(round_up(filters_, products_.panel)),
        threads_(thread_count()) {
    left_.reserve(most_factors);
    left_.emplace_back(request, 0, factor, isa, layout_);
    if (request.outputs.size() > 1) {
      left_.emplace_back(request, request.inputs.size() - 1, Factor::plain, isa, layout_);
    }
    for (const LeftFactor& factor_of : left_) channels_ += factor_of.channels();
    by_channels_ = left_.size() == 1 && channels_ > filters_;
    // Sums are split by rows into blocks, whose number doesn't depend on the number of threads, so that the sums don't.
    // The blocks of a large result or of few rows take longer to add than its columns to compute one after the other.
    constexpr Index most_floats = 32768, most_blocks = 16, fewest_rows = 2048;
    blocks_ = std::max<Index>(1, std::min({most_blocks, rows_ / fewest_rows, most_blocks * most_floats / floats()}));
    if (blocks_ < 4) blocks_ = 1;
    const Index block_rows = (rows_ + blocks_ - 1) / blocks_;
    const Index pieces = std::max<Index>(1, (block_rows + most_rows() / 2) / most_rows());
    piece_ = round_up((block_rows + pieces - 1) / pieces, 2);
    const Index parts = by_channels_ ? blocks_of(channels_) : columns_ / products_.panel;
    groups_ = blocks_ > 1 ? 1 : std::min(threads_, parts);  // each copies the other factor
    // A line more than needed, so that blocks at a distance of a power of two don't share a set of the cache.
    const Index words = packing_.words(piece_);
    block_pitch_ = words * block_columns + line;
    panel_pitch_ = words * products_.panel + line;
    Index most = 0;
    for (Index group = 0; group < groups_; ++group) {
      Index of_group = 0;
      for (const LeftFactor& factor_of : left_) of_group += blocks_of(columns_of(factor_of, group).count);
      most = std::max(most, of_group);
    }
    const Spec& out = request.outputs[0];
    direct_ = blocks_ == 1 && columns_ == filters_ && out.dtype == DType::float32;
    if (!direct_) sums_ = layout_.take(float_bytes(blocks_ * floats()));
    wide_floats_ = factor == Factor::plain ? 0 : round_up(LeftFactor::wide_rows * channels_, line);
    own_floats_ = round_up(panel_pitch_ + wide_floats_ + most * block_pitch_, line);
    own_ = layout_.take(float_bytes(threads_ * own_floats_));
    result_ = WideResult(request, layout_);
  }

  void run(const KernelArguments& arguments) override {
    for (const LeftFactor& factor : left_) factor.prepare(arguments);
    const Index items = blocks_ * groups_;
    const auto threads = static_cast<int>(std::min<Index>({threads_, thread_count(), items}));
    parallel_threads(threads, [&](int thread, int count) {
      float* const own = floats_at(arguments, own_) + thread * own_floats_;
      for (Index i = items * thread / count; i < items * (thread + 1) / count; ++i) {
        run_item(arguments, i / groups_, i % groups_, own);
      }
    });
    if (direct_) return;
    for (std::size_t i = 0; i < left_.size(); ++i) add_blocks(arguments, i);
    result_.finish(arguments);
  }

  std::size_t scratch_bytes() const override { return layout_.size(); }
  std::string detail() const override { return packing_.pairs() ? "bfloat16 products" : ""; }

 private:
  static constexpr Index line = 16;  // floats of a cache line
  static constexpr std::size_t most_factors = 2;

  /// A thread's share of a left factor.
  struct Part {
    const LeftFactor* factor = nullptr;
    Columns columns;
    float* copies = nullptr;  ///< blocks of a piece of rows
    float* sums = nullptr;    ///< of all columns of the factor
    Prefetch next{};          ///< rows of the next piece
  };

  static Index blocks_of(Index columns) { return round_up(columns, block_columns) / block_columns; }

  /// Floats of the sums of a block.
  Index floats() const { return channels_ * columns_; }

  /// A group's share of `count` columns, in whole units.
  Columns share(Index count, Index unit, Index group) const {
    const Index units = round_up(count, unit) / unit;
    const Index first = units * group / groups_ * unit;
    return {first, std::min(count, units * (group + 1) / groups_ * unit) - first};
  }
  Columns columns_of(const LeftFactor& factor, Index group) const {
    return by_channels_ ? share(channels_, block_columns, group) : Columns{0, factor.channels()};
  }
  Columns filters_of(Index group) const {
    return by_channels_ ? Columns{0, filters_} : share(filters_, products_.panel, group);
  }

  /// Sums of a block of rows for factor i.
  float* sums_of(const KernelArguments& arguments, Index block, std::size_t i) const {
    if (direct_) return arguments.out<float>(i);
    return floats_at(arguments, sums_) + block * floats() + (i == 0 ? 0 : left_[0].channels() * columns_);
  }

  /// Writes output i.
  void add_blocks(const KernelArguments& arguments, std::size_t i) const {
    const float* const sums = sums_of(arguments, 0, i);
    float* const out = i == 0 ? result_.place(arguments) : arguments.out<float>(i);
    parallel_for(left_[i].channels(), grain_of(filters_ * blocks_), [&](Index begin, Index end) {
      for (Index c = begin; c < end; ++c) {
        sum_blocks(sums + c * columns_, floats(), blocks_, filters_, out + c * filters_);
      }
    });
  }

  /// Computes the sums of a block of rows for a group of columns.
  void run_item(const KernelArguments& arguments, Index block, Index group, float* own) const {
    float *const g = own, *const wide = g + panel_pitch_;
    const Columns of_g = filters_of(group);
    const Index panels = round_up(of_g.count, products_.panel) / products_.panel;
    std::array<Part, most_factors> parts;
    float* copies = wide + wide_floats_;
    Index products = 0;
    for (std::size_t i = 0; i < left_.size(); ++i) {
      parts[i] = {&left_[i], columns_of(left_[i], group), copies, sums_of(arguments, block, i)};
      copies += blocks_of(parts[i].columns.count) * block_pitch_;
      products += blocks_of(parts[i].columns.count);
    }
    const auto panel_at = [&](Index panel) {
      const Index column = panel * products_.panel;
      return Columns{of_g.first + column, std::min(products_.panel, of_g.count - column)};
    };
    const Index first = rows_ * block / blocks_, last = rows_ * (block + 1) / blocks_;
    for (Index row = first; row < last; row += piece_) {
      const Rows rows{row, std::min(piece_, last - row)};
      const Rows next{row + rows.count, std::min(piece_, last - row - rows.count)};
      for (std::size_t i = 0; i < left_.size(); ++i) {
        Part& part = parts[i];
        part.factor->pack(arguments, part.columns, rows, wide, part.copies, block_pitch_);
        // Reading takes as long as a small product. A part of the columns is not read by lines of whole rows.
        if (!by_channels_ || groups_ == 1) part.next = part.factor->lines(arguments, next);
      }
      for (Index i = 0; i < panels; ++i) {
        const Columns panel = panel_at(i);
        packing_.panels(arguments.inputs[1], filters_, panel, rows, g, panel_pitch_);
        const auto next_g = [&](Index line_of_row) {
          const Index column = line_of_row * Prefetch::line_bytes / packing_.size();
          if (column >= products_.panel) return Prefetch{};
          return i + 1 < panels ? lines_of_g(arguments, rows, panel_at(i + 1).first + column)
                                : lines_of_g(arguments, next, of_g.first + column);
        };
        const auto next_x = [&](Part& part) { return part.next.take(part.next.lines() / (panels - i) + 1); };
        PrefetchQueue ahead({next_g(0), next_g(1), next_x(parts[0]), next_x(parts[1])}, products);
        for (std::size_t k = 0; k < left_.size(); ++k) multiply(parts[k], g, panel, rows.count, row > first, ahead);
      }
    }
  }

  /// Adds the products of a part's columns and a panel of g.
  void multiply(const Part& part, const float* g, const Columns& panel, Index depth, bool accumulate,
                PrefetchQueue& ahead) const {
    for (Index column = 0; column < part.columns.count; column += block_columns) {
      const float* const x = part.copies + column / block_columns * block_pitch_;
      float* const out = part.sums + (part.columns.first + column) * columns_ + panel.first;
      const Index count = std::min(block_columns, part.columns.count - column);
      packing_.multiply({.a = x,
                         .b = g,
                         .out = out,
                         .out_width = columns_,
                         .rows = count,
                         .depth = packing_.words(depth),
                         .accumulate = accumulate,
                         .ahead = ahead.next_turn(),
                         .columns = panel.count});
    }
  }

  /// About the most rows of a piece. With more, fewer pieces read and write the sums. But copies of x take longer to
  /// read again for each panel, and longer sums of float32 round more. Fitted on Zen 5 with 1 MiB of L2 cache, 64 to
  /// 2048 channels and filters.
  Index most_rows() const {
    constexpr Index most_words = 1 << 19, fewest = 64, most_of_pairs = 1600, most_of_floats = 400;
    const Index channels = by_channels_ ? channels_ / 2 : channels_;  // if two threads share them
    return packing_.pairs() ? std::clamp(2 * most_words / channels, 2 * fewest, most_of_pairs)
                            : std::clamp(most_words / channels, fewest, most_of_floats);
  }

  /// A line of each row, from a column on.
  Prefetch lines_of_g(const KernelArguments& arguments, const Rows& rows, Index column) const {
    const Index row = filters_ * packing_.size();
    const char* const from = arguments.in<char>(1) + rows.first * row + column * packing_.size();
    return {from, from + rows.count * row, row};
  }

  const ProductFunctions& products_;
  const RowPacking packing_;
  const Index filters_, rows_, columns_, threads_;
  ScratchLayout layout_;
  std::vector<LeftFactor> left_;
  Index channels_ = 0;        ///< of all left factors
  bool by_channels_ = false;  ///< groups share the columns of x, else those of g
  Index piece_ = 0;           ///< rows that are copied at a time
  bool direct_ = false;       ///< sums are made in the outputs
  Index blocks_ = 1, groups_ = 1, block_pitch_ = 0, panel_pitch_ = 0, wide_floats_ = 0, own_floats_ = 0;
  std::size_t sums_ = 0, own_ = 0;
  WideResult result_;
};

std::unique_ptr<Kernel> make_kernel_gradient_of_convolution(const KernelRequest& request, Isa isa,
                                                            std::string& reason) {
  const Shape& kernel = request.outputs[0].shape;
  if (!is_pointwise(request.attributes, kernel)) return make_window_products(request, isa, reason);
  if (!takes_stored(request, reason) || !has_many_pixels(request, kernel, reason)) return nullptr;
  return std::make_unique<OuterProducts>(request, Factor::plain, isa);
}

std::unique_ptr<Kernel> make_kernel_gradient_of_normalized(const KernelRequest& request, Isa isa, std::string& reason) {
  const Shape& kernel = request.outputs[0].shape;
  if (!is_pointwise(request.attributes, kernel))
    return decline(reason, "takes 1 x 1 kernels without strides, padding or groups");
  for (const Spec& spec : {request.inputs[0], request.inputs[1], request.outputs[0]}) {
    if (spec.dtype != DType::float32) return decline(reason, "takes float32; got {}", spec.dtype);
  }
  if (!has_many_pixels(request, kernel, reason)) return nullptr;
  return std::make_unique<OuterProducts>(request, Factor::normalized, isa);
}

std::unique_ptr<Kernel> make_kernel_gradient_of_recurrence(const KernelRequest& request, Isa isa, std::string& reason) {
  for (const Spec& spec : request.inputs) {
    if (spec.dtype != DType::float32) return decline(reason, "takes operands of float32; got {}", spec.dtype);
  }
  for (const Spec& spec : request.outputs) {
    if (!is_stored(spec.dtype)) return decline_dtype(reason, spec.dtype);
  }
  if (request.outputs.size() > 1 && request.outputs[0].dtype != DType::float32)
    return decline(reason, "gives two results in float32; got {}", request.outputs[0].dtype);
  return std::make_unique<OuterProducts>(request, Factor::of_step_before, isa);
}

/// Sets no reason, since it is made for few products.
std::unique_ptr<Kernel> make_kernel_gradient_of_dense(const KernelRequest& request, Isa isa, std::string&) {
  const Shape &x = request.inputs[0].shape, &out = request.outputs[0].shape;
  if (!request.attributes.get_or<bool>("transpose_a", false) || request.attributes.get_or<bool>("transpose_b", false) ||
      x.size() != 2 || request.inputs[1].shape.size() != 2 || request.inputs.size() != 2 || has_relu(request)) {
    return nullptr;
  }
  std::string unused;
  if (!takes_stored(request, unused) || x[0] < fewest_rows || std::min(out[0], out[1]) < fewest_channels) {
    return nullptr;
  }
  return std::make_unique<OuterProducts>(request, Factor::plain, isa);
}

}  // namespace

Entries outer_product_entries() {
  return {entry<make_kernel_gradient_of_convolution>("conv2d_kernel_gradient"),
          entry<make_kernel_gradient_of_normalized>("normalized_conv2d_kernel_gradient"),
          entry<make_kernel_gradient_of_recurrence>("recurrent_kernel_gradient"),
          entry<make_kernel_gradient_of_dense>("matmul")};
}

}  // namespace mezzo::xsimd_kernels
