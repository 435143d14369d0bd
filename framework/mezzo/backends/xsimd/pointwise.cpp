#include <mezzo/backends/xsimd/pointwise.hpp>

#include <algorithm>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/xsimd/conversions.hpp>
#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/kernel_panels.hpp>
#include <mezzo/backends/xsimd/normalized_input.hpp>
#include <mezzo/backends/xsimd/past_caches.hpp>
#include <mezzo/backends/xsimd/products.hpp>
#include <mezzo/compiler/work.hpp>

// A 1 x 1 convolution is the product of a matrix with a row for each pixel and a small matrix. The small one is packed
// in panels of columns. A thread multiplies a few rows, which stay in its L2 cache, with all panels, and meanwhile
// fetches the next rows. Rows of bfloat16 and float16 are multiplied as float32: they are converted in that cache.
namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

/// Most terms that are summed at a time, so that a panel stays in the L1 cache or near it: 16 KiB with AVX2, 64 KiB
/// with AVX-512.
Index most_depth(const ProductFunctions& products) { return 16 * products.panel; }

enum class Kind { convolution, of_normalized, input_gradient };

/// Rows that are multiplied at a time, if a thread keeps `floats` numbers of each in its L2 cache, up to 256 KiB. At
/// least 24 rows share the reading of a panel.
Index rows_of_chunk(Index floats) {
  constexpr Index most_floats = 1 << 16, block = 12, fewest = 2 * block;
  return std::clamp(most_floats / floats / block * block, fewest, chunk_rows);
}

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
        x_(request.inputs[0]),
        y_(request.outputs[0]),
        threads_(thread_count()),
        input_(request, kind == Kind::of_normalized, isa, layout_) {
    if (is_half(x_.dtype)) widen_ = kernels(isa).cast.from_storage[x_.dtype].float32;
    const Index in = input_ || widen_ != nullptr ? depth_ : 0, out = rounds() && terms_ > 1 ? columns_ : 0;
    if (widen_ != nullptr) chunk_ = rows_of_chunk(in + out);
    constexpr Index line = 16;  // floats of a cache line
    sums_ = round_up(chunk_ * in, line);
    own_floats_ = sums_ + round_up(chunk_ * out, line);
    own_ = layout_.take(float_bytes(threads_ * own_floats_));
  }

  void run(const KernelArguments& arguments) override {
    panels_.pack(arguments);
    input_.prepare(arguments);
    const bool past_caches = terms_ == 1 && !rounds() && goes_past_caches(y_, arguments.outputs[0]);
    const Index chunks = (rows_ + chunk_ - 1) / chunk_;
    parallel_ranges(chunks, grain_of(chunk_ * depth_ * panels_.count()), std::min(threads_, thread_count()),
                    [&](int thread, Index begin, Index end) {
                      float* const own = floats_at(arguments, own_) + thread * own_floats_;
                      const Index last = std::min(rows_, end * chunk_);
                      for (Index row = begin * chunk_; row < last; row += chunk_) {
                        run_rows(arguments, row, std::min(chunk_, last - row), last, own, past_caches);
                      }
                      if (past_caches) finish_stores();
                    });
  }

  std::size_t scratch_bytes() const override { return layout_.size(); }

 private:
  /// Computes some rows, and fetches those behind them up to `last`. `own`: memory for converted or normalized rows,
  /// and for sums.
  void run_rows(const KernelArguments& arguments, Index row, Index rows, Index last, float* own,
                bool past_caches) const {
    const Index row_bytes = depth_ * size_of(x_.dtype);
    const char* const x = arguments.in<char>(0) + row * row_bytes;
    const char* const next = x + rows * row_bytes;
    const Prefetch next_rows{next, next + std::min(chunk_, last - row - rows) * row_bytes};
    const float* a = own;
    if (input_) {
      input_.compute(arguments, reinterpret_cast<const float*>(x), 0, depth_, rows, own);
    } else if (widen_ != nullptr) {
      widen_(x, own, rows * depth_);
    } else {
      a = reinterpret_cast<const float*>(x);
    }
    PrefetchQueue ahead({next_rows}, terms_ * panels_.count());
    PanelProduct product{.a_width = depth_, .b_width = products_.panel, .out_width = columns_, .rows = rows};
    product.past_caches = past_caches;
    for (Index term = 0; term < terms_; ++term) {
      const Index first = depth_ * term / terms_;
      product.a = a + first;
      product.depth = depth_ * (term + 1) / terms_ - first;
      product.accumulate = term > 0;
      for (Index panel = 0; panel < panels_.count(); ++panel) {
        const Index column = panel * products_.panel;
        product.b = panels_.panel(arguments, panel, first);
        product.columns = std::min(products_.panel, columns_ - column);
        product.ahead = ahead.next_turn();
        if (!rounds()) product.out = arguments.out<float>(0) + row * columns_ + column;
        if (rounds() && terms_ > 1) product.out = own + sums_ + column;
        if (rounds() && term == terms_ - 1) round_to(product, arguments, row * columns_ + column);
        products_.product(product);
      }
    }
  }

  /// True if y isn't float32. Sums of several pieces of the depth are then kept in memory of the thread.
  bool rounds() const { return y_.dtype != DType::float32; }

  /// Lets a product round its results to y, from number `place` on.
  void round_to(PanelProduct& product, const KernelArguments& arguments, Index place) const {
    if (y_.dtype == DType::bfloat16) product.out_bfloat16 = arguments.out<bfloat16>(0) + place;
    if (y_.dtype == DType::float16) product.out_float16 = arguments.out<float16>(0) + place;
  }

  const ProductFunctions& products_;
  const Index depth_, columns_, rows_;
  ScratchLayout layout_;
  const KernelPanels panels_;
  const Index terms_;  ///< pieces of the depth
  const Spec x_, y_;
  const int threads_;
  const NormalizedInput input_;
  CastFunctions::Cast widen_ = nullptr;  ///< rows of x, if it isn't float32
  Index chunk_ = chunk_rows;             ///< rows that are multiplied at a time
  Index own_floats_ = 0, sums_ = 0;      ///< floats of a thread, and the offset of its sums
  std::size_t own_ = 0;                  ///< offset in scratch memory
};

/// True for a 1 x 1 convolution of enough pixels. Sets the reason otherwise.
bool takes_pointwise(const KernelRequest& request, const Shape& kernel, std::string& reason) {
  if (!takes_stored(request, reason)) return false;
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
  if (!is_of_float32(request, reason) || !takes_pointwise(request, request.inputs[1].shape, reason)) return nullptr;
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
