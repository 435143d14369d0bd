#include <mezzo/backends/xsimd/pointwise.hpp>

#include <algorithm>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/kernel_panels.hpp>
#include <mezzo/backends/xsimd/normalized_input.hpp>
#include <mezzo/backends/xsimd/past_caches.hpp>
#include <mezzo/backends/xsimd/products.hpp>
#include <mezzo/compiler/work.hpp>

// A 1 x 1 convolution is the product of a matrix with a row for each pixel and a small matrix. The small one is packed
// in panels of columns. A thread multiplies a few rows, which stay in its L2 cache, with all panels, and meanwhile
// fetches the next rows.
namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

/// Most terms that are summed at a time, so that a panel stays in the L1 cache or near it: 16 KiB with AVX2, 64 KiB
/// with AVX-512.
Index most_depth(const ProductFunctions& products) { return 16 * products.panel; }

enum class Kind { convolution, of_normalized, input_gradient };

/// Kernel (1, 1, channels, filters) as a matrix (depth, columns), transposed for gradients of inputs.
class Pointwise final : public Kernel {
 public:
  Pointwise(const KernelRequest& request, Kind kind, Isa isa)
      : products_(kernels(isa).products),
        depth_(request.inputs[0].shape.back()),
        columns_(request.outputs[0].shape.back()),
        rows_(element_count(request.outputs[0].shape) / columns_),
        panels_(request, 1, depth_, columns_, kind == Kind::input_gradient, products_, layout_),
        terms_((depth_ + most_depth(products_) - 1) / most_depth(products_)),
        y_(request.outputs[0]),
        threads_(thread_count()),
        input_(request, kind == Kind::of_normalized, isa, layout_) {
    if (input_) normalized_ = layout_.take(float_bytes(threads_ * chunk_rows * depth_));
  }

  void run(const KernelArguments& arguments) override {
    panels_.pack(arguments);
    input_.prepare(arguments);
    const bool past_caches = terms_ == 1 && goes_past_caches(y_, arguments.outputs[0]);
    const Index chunks = (rows_ + chunk_rows - 1) / chunk_rows;
    parallel_ranges(chunks, grain_of(chunk_rows * depth_ * panels_.count()), std::min(threads_, thread_count()),
                    [&](int thread, Index begin, Index end) {
                      float* const own = floats_at(arguments, normalized_) + thread * chunk_rows * depth_;
                      const Index last = std::min(rows_, end * chunk_rows);
                      for (Index row = begin * chunk_rows; row < last; row += chunk_rows) {
                        multiply(arguments, row, std::min(chunk_rows, last - row), last, own, past_caches);
                      }
                      if (past_caches) finish_stores();
                    });
  }

  std::size_t scratch_bytes() const override { return layout_.size(); }

 private:
  /// Computes some rows, and fetches those behind them up to `last`. `own`: memory for normalized rows.
  void multiply(const KernelArguments& arguments, Index row, Index rows, Index last, float* own,
                bool past_caches) const {
    const float* const x = arguments.in<float>(0) + row * depth_;
    const float* const next = x + rows * depth_;
    const Index next_rows = std::min(chunk_rows, last - row - rows);
    PrefetchQueue ahead(
        {Prefetch{reinterpret_cast<const char*>(next), reinterpret_cast<const char*>(next + next_rows * depth_)}},
        terms_ * panels_.count());
    if (input_) input_.compute(arguments, x, 0, depth_, rows, own);
    const float* const a = input_ ? own : x;
    for (Index term = 0; term < terms_; ++term) {
      const Index first = depth_ * term / terms_;
      for (Index panel = 0; panel < panels_.count(); ++panel) {
        const Index column = panel * products_.panel;
        products_.product({.a = a + first,
                           .a_width = depth_,
                           .b = panels_.panel(arguments, panel, first),
                           .b_width = products_.panel,
                           .out = arguments.out<float>(0) + row * columns_ + column,
                           .out_width = columns_,
                           .rows = rows,
                           .depth = depth_ * (term + 1) / terms_ - first,
                           .accumulate = term > 0,
                           .ahead = ahead.next_turn(),
                           .columns = std::min(products_.panel, columns_ - column),
                           .past_caches = past_caches});
      }
    }
  }

  const ProductFunctions& products_;
  const Index depth_, columns_, rows_;
  ScratchLayout layout_;
  const KernelPanels panels_;
  const Index terms_;  ///< pieces of the depth
  const Spec y_;
  const int threads_;
  const NormalizedInput input_;
  std::size_t normalized_ = 0;  ///< offset in scratch memory
};

/// True for a 1 x 1 convolution in float32 of enough pixels. Sets the reason otherwise.
bool takes_pointwise(const KernelRequest& request, const Shape& kernel, std::string& reason) {
  if (!is_of_float32(request, reason)) return false;
  if (is_pointwise(request.attributes, kernel)) return has_many_pixels(request, kernel, reason);
  decline(reason, "takes 1 x 1 kernels without strides, padding or groups");
  return false;
}

std::unique_ptr<Kernel> make_pointwise(const KernelRequest& request, Isa isa, std::string& reason) {
  if (!takes_pointwise(request, request.inputs[1].shape, reason)) return nullptr;
  if (request.inputs.size() > 2 || has_relu(request)) return decline(reason, "takes no bias and no epilogue");
  return std::make_unique<Pointwise>(request, Kind::convolution, isa);
}

std::unique_ptr<Kernel> make_normalized_pointwise(const KernelRequest& request, Isa isa, std::string& reason) {
  if (!takes_pointwise(request, request.inputs[1].shape, reason)) return nullptr;
  return std::make_unique<Pointwise>(request, Kind::of_normalized, isa);
}

std::unique_ptr<Kernel> make_pointwise_input_gradient(const KernelRequest& request, Isa isa, std::string& reason) {
  if (!takes_pointwise(request, request.inputs[1].shape, reason)) return nullptr;
  return std::make_unique<Pointwise>(request, Kind::input_gradient, isa);
}

}  // namespace

bool has_many_pixels(const KernelRequest& request, const Shape& kernel, std::string& reason) {
  const Shape& x = request.inputs[0].shape;
  const Index rows = x[0] * x[1] * x[2];
  if (rows >= fewest_rows && std::min(kernel[2], kernel[3]) >= fewest_channels) return true;
  decline(reason, "takes at least {} pixels and {} channels and filters; got {} pixels, {} channels, {} filters",
          fewest_rows, fewest_channels, rows, kernel[2], kernel[3]);
  return false;
}

Entries pointwise_entries() {
  return {entry<make_pointwise>("conv2d"), entry<make_normalized_pointwise>("normalized_conv2d"),
          entry<make_pointwise_input_gradient>("conv2d_input_gradient")};
}

}  // namespace mezzo::xsimd_kernels
