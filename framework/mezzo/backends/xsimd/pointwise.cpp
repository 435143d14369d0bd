#include <mezzo/backends/xsimd/pointwise.hpp>

#include <algorithm>
#include <cstring>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/xsimd/entries.hpp>

// The gradient of a 1 x 1 kernel is the product x^T g of two matrices with a row for each pixel: many rows and a small
// result. Pieces of a few rows are copied to scratch memory as float32, in which they stay in the L2 cache: x in blocks
// of columns and g in panels, so that the product reads both in the order of memory.
namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

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
        threads_(thread_count()) {
    // Sums are split by rows into blocks, whose number doesn't depend on the number of threads, so that the sums don't.
    // The blocks of a large result take longer to add than its panels of columns to compute one after the other.
    constexpr Index most_floats = 65536, most_blocks = 16;
    blocks_ = std::max<Index>(1, std::min({most_blocks, rows_ / (2 * piece), most_blocks * most_floats / floats()}));
    if (blocks_ < 4) blocks_ = 1;
    groups_ = blocks_ > 1 ? 1 : columns_ / products_.panel;
    // A line more than needed, so that blocks at a distance of a power of two don't share a set of the cache.
    block_pitch_ = piece * block_columns + line;
    panel_pitch_ = piece * products_.panel + line;
    x_floats_ = round_up(channels_, block_columns) / block_columns * block_pitch_;
    const Index g_floats = columns_ / groups_ / products_.panel * panel_pitch_;
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
  static constexpr Index piece = 128;  // rows
  static constexpr Index line = 16;    // floats of a cache line
  static constexpr Index block_columns = 12;

  static std::size_t bytes(Index floats) { return static_cast<std::size_t>(floats) * sizeof(float); }

  /// Floats of the sums of a block.
  Index floats() const { return channels_ * columns_; }

  /// Computes the sums of a block of rows for a group of panels.
  void run_item(const KernelArguments& arguments, Index block, Index group, float* sums, float* own) const {
    const Index own_columns = columns_ / groups_, first_column = group * own_columns;
    const Index count = std::min(own_columns, filters_ - first_column);
    float *const x = own, *const g = x + x_floats_;
    const Index last = rows_ * (block + 1) / blocks_;
    for (Index first = rows_ * block / blocks_, row = first; row < last; row += piece) {
      const Index depth = std::min(piece, last - row);
      for (Index i = 0; i < depth; ++i) {
        float* const wide = own + own_bytes_ / static_cast<Index>(sizeof(float)) - std::max(channels_, filters_);
        const float* from = widened(arguments.in<char>(0) + (row + i) * channels_ * size_, wide, channels_);
        copy_columns<block_columns>(from, channels_, x + i * block_columns, block_columns, block_pitch_);
        from = widened(arguments.in<char>(1) + ((row + i) * filters_ + first_column) * size_, wide, count);
        copy_columns<line / 2>(from, count, g + i * products_.panel, products_.panel, panel_pitch_);
      }
      for (Index column = 0; column < own_columns; column += products_.panel) {
        for (Index channel = 0; channel < channels_; channel += block_columns) {
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

  /// A row as float32: itself, or a copy in `wide`.
  const float* widened(const char* from, float* wide, Index count) const {
    if (size_ == sizeof(float)) return reinterpret_cast<const float*>(from);
    widen_(from, wide, count);
    return wide;
  }

  /// Copies a row's columns, a multiple of `step` for each of the panels that start at `to`. The last panel is filled
  /// with zeros.
  template <Index step>
  static void copy_columns(const float* from, Index count, float* to, Index panel, Index pitch) {
    for (; count >= panel; count -= panel, from += panel, to += pitch) {
      for (Index i = 0; i < panel; i += step) std::memcpy(to + i, from + i, step * sizeof(float));
    }
    if (count == 0) return;
    std::copy_n(from, count, to);
    std::fill(to + count, to + panel, 0.0F);
  }

  /// The sum over all blocks for one channel.
  void add_blocks(const float* sums, float* out) const {
    for (Index f = 0; f < filters_; ++f) {
      double sum = 0;
      for (Index block = 0; block < blocks_; ++block) sum += static_cast<double>(sums[block * floats() + f]);
      out[f] = static_cast<float>(sum);
    }
  }

  const ProductFunctions& products_;
  const CastFunctions::Cast widen_;
  const Index size_, channels_, filters_, rows_, columns_, threads_;
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
