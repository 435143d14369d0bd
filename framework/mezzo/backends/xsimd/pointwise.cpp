#include <mezzo/backends/xsimd/pointwise.hpp>

#include <algorithm>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/xsimd/entries.hpp>

// The gradient of a 1 x 1 kernel is the product x^T g of two matrices with a row for each pixel: many rows and a small
// result. Pieces of a few rows are copied to scratch memory as float32, in which they stay in the L2 cache: x in blocks
// of columns and g in panels, so that the product reads both in the order of memory.
namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

/// Bytes that are fetched into the L2 cache while other work runs.
struct Prefetch {
  static constexpr Index line_bytes = 64;
  const char *next, *end;

  /// Lines to fetch in each of `turns`.
  Index share(Index turns) const { return (end - next) / line_bytes / turns + 1; }

  void lines(Index count) {
    for (; count > 0 && next < end; --count, next += line_bytes) __builtin_prefetch(next, 0, 2);
  }
};

class PointwiseKernelGradient final : public Kernel {
 public:
  PointwiseKernelGradient(const KernelRequest& request, Isa isa)
      : products_(kernels(isa).products),
        widen_(kernels(isa).cast.from_storage[request.inputs[0].dtype].float32),
        size_(size_of(request.inputs[0].dtype)),
        channels_(request.outputs[0].shape[2]),
        filters_(request.outputs[0].shape[3]),
        rows_(element_count(request.inputs[1].shape) / filters_),
        columns_(round_up(filters_, products_.panel)),
        threads_(thread_count()),
        // Rows that are copied at a time. Few at a time are fetched while the few sums that they add to are computed.
        piece_(channels_ * filters_ > 8192 ? 128 : 32) {
    // Sums are split by rows into blocks, whose number doesn't depend on the number of threads, so that the sums don't.
    // The blocks of a large result take longer to add than its panels of columns to compute one after the other.
    constexpr Index most_floats = 65536, most_blocks = 16;
    blocks_ = std::max<Index>(1, std::min({most_blocks, rows_ / (2 * piece_), most_blocks * most_floats / floats()}));
    if (blocks_ < 4) blocks_ = 1;
    const Index panels = columns_ / products_.panel;
    groups_ = blocks_ > 1 ? 1 : std::min(threads_, panels);  // each copies x
    // A line more than needed, so that blocks at a distance of a power of two don't share a set of the cache.
    block_pitch_ = piece_ * block_columns + line;
    panel_pitch_ = piece_ * products_.panel + line;
    x_floats_ = round_up(channels_, block_columns) / block_columns * block_pitch_;
    const Index g_floats = (panels + groups_ - 1) / groups_ * panel_pitch_;
    sums_ = layout_.take(bytes(blocks_ * floats()));
    own_bytes_ = static_cast<Index>(bytes(round_up(x_floats_ + g_floats + std::max(channels_, filters_), line)));
    own_ = layout_.take(static_cast<std::size_t>(threads_ * own_bytes_));
    const Spec& out = request.outputs[0];
    if (out.dtype == DType::float32) return;
    wide_ = layout_.take(bytes(channels_ * filters_));
    narrow_ = cast_kernel(out.shape, DType::float32, out.dtype, request.where);
  }

  void run(const KernelArguments& arguments) override {
    auto* const scratch = static_cast<char*>(arguments.scratch);
    auto* const sums = reinterpret_cast<float*>(scratch + sums_);
    const Index items = blocks_ * groups_;
    const auto threads = static_cast<int>(std::min<Index>({threads_, thread_count(), items}));
    parallel_threads(threads, [&](int thread, int count) {
      auto* const own = reinterpret_cast<float*>(scratch + own_ + static_cast<std::size_t>(thread * own_bytes_));
      for (Index i = items * thread / count; i < items * (thread + 1) / count; ++i) {
        run_item(arguments, i / groups_, i % groups_, sums + i / groups_ * floats(), own);
      }
    });
    auto* const wide = narrow_ ? reinterpret_cast<float*>(scratch + wide_) : arguments.out<float>(0);
    parallel_for(channels_, grain_of(filters_ * blocks_), [&](Index begin, Index end) {
      for (Index c = begin; c < end; ++c) add_blocks(sums + c * columns_, wide + c * filters_);
    });
    if (narrow_) {
      const void* const from = wide;
      narrow_->run({&from, arguments.outputs, nullptr});
    }
  }

  std::size_t scratch_bytes() const override { return layout_.size(); }

 private:
  static constexpr Index line = 16;  // floats of a cache line

  static std::size_t bytes(Index floats) { return static_cast<std::size_t>(floats) * sizeof(float); }

  /// Floats of the sums of a block.
  Index floats() const { return channels_ * columns_; }

  /// Computes the sums of a block of rows for a group of panels.
  void run_item(const KernelArguments& arguments, Index block, Index group, float* sums, float* own) const {
    const Index panels = columns_ / products_.panel, first_column = panels * group / groups_ * products_.panel,
                own_columns = panels * (group + 1) / groups_ * products_.panel - first_column;
    const Index count = std::min(own_columns, filters_ - first_column);
    float *const x = own, *const g = x + x_floats_;
    const Index last = rows_ * (block + 1) / blocks_;
    for (Index first = rows_ * block / blocks_, row = first; row < last; row += piece_) {
      const Index depth = std::min(piece_, last - row);
      float* const wide = own + own_bytes_ / static_cast<Index>(sizeof(float)) - std::max(channels_, filters_);
      pack(products_.pack_blocks, arguments.in<char>(0) + row * channels_ * size_, channels_, channels_, depth, wide,
           {.to = x, .pitch = block_pitch_}, block_columns);
      pack(products_.pack_panels, arguments.in<char>(1) + (row * filters_ + first_column) * size_, filters_, count,
           depth, wide, {.to = g, .pitch = panel_pitch_}, products_.panel);
      // Reading the next rows takes as long as a small product.
      const Index next_rows = std::min(piece_, last - row - depth);
      Prefetch next_x = rows_ahead(arguments.in<char>(0), row + depth, channels_, next_rows),
               next_g = rows_ahead(arguments.in<char>(1), row + depth, filters_, groups_ > 1 ? 0 : next_rows);
      const Index products = own_columns / products_.panel * (round_up(channels_, block_columns) / block_columns);
      const Index x_lines = next_x.share(products), g_lines = next_g.share(products);
      for (Index column = 0; column < own_columns; column += products_.panel) {
        for (Index channel = 0; channel < channels_; channel += block_columns) {
          next_x.lines(x_lines);
          next_g.lines(g_lines);
          products_.transposed_product({.a = x + channel / block_columns * block_pitch_,
                                        .a_width = block_columns,
                                        .b = g + column / products_.panel * panel_pitch_,
                                        .b_width = products_.panel,
                                        .out = sums + channel * columns_ + first_column + column,
                                        .out_width = columns_,
                                        .rows = std::min(block_columns, channels_ - channel),
                                        .depth = depth,
                                        .accumulate = row > first});
        }
      }
    }
  }

  Prefetch rows_ahead(const char* rows, Index first, Index width, Index count) const {
    const char* const begin = rows + first * width * size_;
    return {begin, begin + count * width * size_};
  }

  /// Copies columns of `depth` rows, `width` apart, to panels. Rows that are not float32 are widened one after the
  /// other in `wide`.
  void pack(void (*function)(const PackedRows&), const char* from, Index width, Index columns, Index depth, float* wide,
            PackedRows rows, Index panel) const {
    rows.columns = columns;
    if (size_ == sizeof(float) && width == columns) {
      rows.from = reinterpret_cast<const float*>(from);
      rows.rows = depth;
      return function(rows);
    }
    rows.rows = 1;
    for (Index i = 0; i < depth; ++i, from += width * size_, rows.to += panel) {
      rows.from = size_ == sizeof(float) ? reinterpret_cast<const float*>(from) : wide;
      if (size_ != sizeof(float)) widen_(from, wide, columns);
      function(rows);
    }
  }

  /// The sum over all blocks for one channel.
  void add_blocks(const float* sums, float* out) const {
    for (Index begin = 0; begin < filters_; begin += line) {
      const Index count = std::min(line, filters_ - begin);
      double total[line] = {};
      for (Index block = 0; block < blocks_; ++block) {
        const float* const from = sums + block * floats() + begin;
        for (Index f = 0; f < count; ++f) total[f] += static_cast<double>(from[f]);
      }
      for (Index f = 0; f < count; ++f) out[begin + f] = static_cast<float>(total[f]);
    }
  }

  const ProductFunctions& products_;
  const CastFunctions::Cast widen_;
  const Index size_, channels_, filters_, rows_, columns_, threads_, piece_;
  Index blocks_ = 1, groups_ = 1, block_pitch_ = 0, panel_pitch_ = 0, x_floats_ = 0, own_bytes_ = 0;
  ScratchLayout layout_;
  std::size_t sums_ = 0, own_ = 0, wide_ = 0;
  std::unique_ptr<Kernel> narrow_;
};

std::unique_ptr<Kernel> make_pointwise_kernel_gradient(const KernelRequest& request, Isa isa, std::string& reason) {
  const Spec &x = request.inputs[0], &g = request.inputs[1];
  const Shape& kernel = request.outputs[0].shape;
  const auto groups = request.attributes.get<Index>("groups");
  const auto& strides = request.attributes.get<Shape>("strides");
  if (kernel[0] != 1 || kernel[1] != 1 || groups != 1 || strides != Shape{1, 1} ||
      request.attributes.get<Shape>("padding") != Shape{0, 0, 0, 0}) {
    return decline(reason,
                   "takes 1 x 1 kernels of one group without strides and padding; got {} x {}, {} groups, strides {}",
                   kernel[0], kernel[1], groups, strides);
  }
  for (const Spec* spec : {&x, &g, &request.outputs[0]}) {
    if (!is_stored(spec->dtype)) return decline_dtype(reason, spec->dtype);
  }
  constexpr Index fewest_rows = 512, fewest_channels = 8;
  const Index rows = x.shape[0] * x.shape[1] * x.shape[2];
  if (rows < fewest_rows || std::min(kernel[2], kernel[3]) < fewest_channels) {
    return decline(reason,
                   "takes at least {} pixels and {} channels and filters; got {} pixels, {} channels, {} filters",
                   fewest_rows, fewest_channels, rows, kernel[2], kernel[3]);
  }
  return std::make_unique<PointwiseKernelGradient>(request, isa);
}

}  // namespace

Entries pointwise_entries() { return {entry<make_pointwise_kernel_gradient>("conv2d_kernel_gradient")}; }

}  // namespace mezzo::xsimd_kernels
