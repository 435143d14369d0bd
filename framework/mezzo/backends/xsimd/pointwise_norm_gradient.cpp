#include <algorithm>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/kernel_panels.hpp>
#include <mezzo/backends/xsimd/norm_gradient.hpp>
#include <mezzo/backends/xsimd/past_caches.hpp>
#include <mezzo/backends/xsimd/pointwise.hpp>
#include <mezzo/backends/xsimd/products.hpp>
#include <mezzo/backends/xsimd/wide_operand.hpp>

// The gradient dy of the norm is an array as large as the convolution's output, which nothing else reads. A thread
// computes a few rows of it, which stay in its L2 cache, and multiplies them with the kernel for dx and with the rows
// of x for the kernel's gradient.
namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

class PointwiseNormGradient final : public Kernel {
 public:
  PointwiseNormGradient(const KernelRequest& request, Isa isa)
      : products_(kernels(isa).products),
        channels_(request.inputs[6].shape.back()),
        filters_(request.inputs[1].shape.back()),
        rows_(element_count(request.inputs[1].shape) / filters_),
        width_(round_up(filters_, products_.panel)),
        dx_(request.outputs[0]),
        threads_(thread_count()),
        norm_(request, isa, layout_),
        panels_(request, 7, filters_, channels_, true, products_, layout_) {
    // Sums are split by rows into blocks, whose number doesn't depend on the number of threads, so that the sums don't.
    constexpr Index most_blocks = 16, fewest_rows_of_block = 2048;
    blocks_ = std::clamp<Index>(rows_ / fewest_rows_of_block, 1, most_blocks);
    sums_ = layout_.take(float_bytes(blocks_ * floats()));
    own_floats_ = chunk_rows * filters_ + products_.panel;  // a panel's registers are read behind the last row
    own_ = layout_.take(float_bytes(threads_ * own_floats_));
  }

  void run(const KernelArguments& arguments) override {
    panels_.pack(arguments);
    const auto prepared = norm_.prepare(arguments, arguments.out<float>(2), arguments.out<float>(3));
    const bool past_caches = goes_past_caches(dx_, arguments.outputs[0]);
    parallel_ranges(blocks_, 1, std::min(threads_, thread_count()), [&](int thread, Index begin, Index end) {
      float* const dy = floats_at(arguments, own_) + thread * own_floats_;
      std::fill_n(dy + chunk_rows * filters_, products_.panel, 0.0F);
      for (Index block = begin; block < end; ++block) {
        const Index first = rows_ * block / blocks_, last = rows_ * (block + 1) / blocks_;
        for (Index row = first; row < last; row += chunk_rows) {
          run_rows(arguments, prepared, row, std::min(chunk_rows, last - row), last, row > first,
                   floats_at(arguments, sums_) + block * floats(), dy, past_caches);
        }
      }
      if (past_caches) finish_stores();
    });
    for (Index c = 0; c < channels_; ++c) {
      sum_blocks(floats_at(arguments, sums_) + c * width_, floats(), blocks_, filters_,
                 arguments.out<float>(1) + c * filters_);
    }
  }

  std::size_t scratch_bytes() const override { return layout_.size(); }

 private:
  /// Floats of the sums of a block.
  Index floats() const { return channels_ * width_; }

  /// The rows behind `row`, up to `last`, of an operand.
  static Prefetch next_rows(const KernelArguments& arguments, std::size_t input, Index row, Index last, Index width) {
    const float* const from = arguments.in<float>(input);
    const Index end = std::min(row + chunk_rows, last);
    return {reinterpret_cast<const char*>(from + row * width), reinterpret_cast<const char*>(from + end * width)};
  }

  /// Computes rows of dy and of dx, and adds their outer products to `sums`.
  void run_rows(const KernelArguments& arguments, const NormGradient::Prepared& prepared, Index row, Index rows,
                Index last, bool accumulate, float* sums, float* dy, bool past_caches) const {
    norm_.rows(prepared, static_cast<Index>(float_bytes(row * filters_)), rows, dy);
    const Index filter_panels = width_ / products_.panel, next = row + rows;
    PrefetchQueue ahead({next_rows(arguments, 0, next, last, filters_), next_rows(arguments, 1, next, last, filters_),
                         next_rows(arguments, 6, next, last, channels_)},
                        panels_.count() + filter_panels);
    for (Index panel = 0; panel < panels_.count(); ++panel) {
      const Index column = panel * products_.panel;
      products_.product({.a = dy,
                         .a_width = filters_,
                         .b = panels_.panel(arguments, panel),
                         .b_width = products_.panel,
                         .out = arguments.out<float>(0) + row * channels_ + column,
                         .out_width = channels_,
                         .rows = rows,
                         .depth = filters_,
                         .ahead = ahead.next_turn(),
                         .columns = std::min(products_.panel, channels_ - column),
                         .past_caches = past_caches});
    }
    for (Index panel = 0; panel < filter_panels; ++panel) {
      const Index column = panel * products_.panel;
      products_.transposed_product({.a = arguments.in<float>(6) + row * channels_,
                                    .a_width = channels_,
                                    .b = dy + column,
                                    .b_width = filters_,
                                    .out = sums + column,
                                    .out_width = width_,
                                    .rows = channels_,
                                    .depth = rows,
                                    .accumulate = accumulate,
                                    .ahead = ahead.next_turn(),
                                    .columns = std::min(products_.panel, filters_ - column)});
    }
  }

  const ProductFunctions& products_;
  const Index channels_, filters_, rows_;
  const Index width_;  ///< of rows of the sums
  const Spec dx_;
  const int threads_;
  ScratchLayout layout_;
  const NormGradient norm_;
  const KernelPanels panels_;
  Index blocks_ = 1, own_floats_ = 0;
  std::size_t sums_ = 0, own_ = 0;  ///< offsets in scratch memory
};

std::unique_ptr<Kernel> make_pointwise_norm_gradient(const KernelRequest& request, Isa isa, std::string& reason) {
  for (const std::size_t i : {0, 1, 6, 7}) {
    const DType dtype = request.inputs[i].dtype;
    if (dtype != DType::float32) return decline(reason, "takes float32; got {}", dtype);
  }
  constexpr Index most_sums = 16384;  // which each chunk of rows reads and writes
  const Shape &x = request.inputs[6].shape, &kernel = request.inputs[7].shape;
  const Index rows = x[0] * x[1] * x[2], sums = kernel[2] * kernel[3];
  if (rows < fewest_rows || std::min(kernel[2], kernel[3]) < fewest_channels || sums > most_sums) {
    return decline(reason,
                   "takes at least {} pixels and {} channels and filters, and kernels of at most {} numbers; got {} "
                   "pixels, {} channels, {} filters",
                   fewest_rows, fewest_channels, most_sums, rows, kernel[2], kernel[3]);
  }
  return std::make_unique<PointwiseNormGradient>(request, isa);
}

}  // namespace

Entries pointwise_norm_gradient_entries() { return {entry<make_pointwise_norm_gradient>("pointwise_norm_gradient")}; }

}  // namespace mezzo::xsimd_kernels
