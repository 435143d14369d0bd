#include <mezzo/backends/xsimd/depthwise/depthwise.hpp>

#include <algorithm>

#include <mezzo/backends/common/epilogue.hpp>
#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/normalized_input.hpp>
#include <mezzo/backends/xsimd/past_caches.hpp>
#include <mezzo/backends/xsimd/wide_operand.hpp>

namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

/// True if x is convolved with a kernel of a size that this family supports, one filter per channel.
bool takes_depthwise(const KernelRequest& request, const Shape& x, const Shape& kernel, std::string& reason) {
  const auto& strides = request.attributes.get<Shape>("strides");
  const auto& dilation = request.attributes.get<Shape>("dilation");
  const auto groups = request.attributes.get<Index>("groups");
  const bool square = kernel[0] == kernel[1] && (kernel[0] == 3 || kernel[0] == most_depthwise_taps);
  const bool strided = strides[0] == strides[1] && (strides[0] == 1 || strides[0] == 2);
  if (groups < 2 || groups != x[3] || kernel[3] != groups || !square || !strided || dilation != Shape{1, 1}) {
    decline(
        reason,
        "depthwise takes one filter a channel, 3 x 3 or 5 x 5 kernels, equal strides of 1 or 2 and no dilation; got "
        "{} channels, {} groups, {} filters, {} x {} kernels, strides {}, dilation {}",
        x[3], groups, kernel[3], kernel[0], kernel[1], strides, dilation);
    return false;
  }
  for (const auto* specs : {&request.inputs, &request.outputs}) {
    for (const Spec& spec : *specs) {
      if (!is_stored(spec.dtype)) {
        decline_dtype(reason, spec.dtype);
        return false;
      }
    }
  }
  return true;
}

/// The convolution of `from` to `to`.
DepthwiseShape depthwise_shape(const KernelRequest& request, const Shape& from, const Shape& to, Index taps) {
  const auto& padding = request.attributes.get<Shape>("padding");
  return {.height = from[1],
          .width = from[2],
          .out_height = to[1],
          .out_width = to[2],
          .channels = from[3],
          .taps = taps,
          .stride = request.attributes.get<Shape>("strides")[0],
          .top = padding[0],
          .left = padding[2],
          .transposed = false};
}

/// Limits of the outputs; the normalized input's ReLU is not one of theirs.
DepthwiseLimits depthwise_limits(const KernelRequest& request, bool normalizes) {
  if (normalizes) return {};
  const Limits limits = limits_of(request);
  return {limits.least, limits.most};
}

/// The rows of x, or rows of normalized x. Each thread keeps the last ones of the latter in separate memory.
class InputRows {
 public:
  InputRows(const KernelRequest& request, const DepthwiseShape& shape, bool normalizes, Isa isa, ScratchLayout& layout)
      : threads_(thread_count()),
        taps_(shape.taps),
        floats_(shape.width * shape.channels),
        channels_(shape.channels),
        input_(request, normalizes, isa, layout) {
    if (normalizes) rows_ = layout.take(static_cast<std::size_t>(threads_ * taps_ * floats_) * sizeof(float));
  }

  /// Most threads that have memory.
  int threads() const { return std::min(threads_, thread_count()); }

  void prepare(const KernelArguments& arguments) const { input_.prepare(arguments); }

  /// Calls body(rows) with the rows for a thread.
  template <class Body>
  void on_thread(const KernelArguments& arguments, int thread, const Body& body) const {
    if (!input_) return body(DepthwiseRows{.images = arguments.inputs[0]});
    float* const memory =
        reinterpret_cast<float*>(static_cast<char*>(arguments.scratch) + rows_) + thread * taps_ * floats_;
    Kept kept{*this, arguments, memory, {}};
    std::fill_n(kept.rows, taps_, Index{-1});
    body(DepthwiseRows{.images = arguments.inputs[0], .make = make, .context = &kept});
  }

 private:
  /// Row r is kept in place r % taps.
  struct Kept {
    const InputRows& of;
    const KernelArguments& arguments;
    float* memory;
    Index rows[most_depthwise_taps];
  };

  static const void* make(void* context, Index row) {
    Kept& kept = *static_cast<Kept*>(context);
    const InputRows& of = kept.of;
    const Index place = row % of.taps_;
    float* const to = kept.memory + place * of.floats_;
    if (kept.rows[place] == row) return to;
    kept.rows[place] = row;
    of.input_.compute(kept.arguments, kept.arguments.in<float>(0) + row * of.floats_, 0, of.channels_,
                      of.floats_ / of.channels_, to);
    return to;
  }

  const int threads_;
  const Index taps_, floats_, channels_;  ///< floats of a row
  const NormalizedInput input_;
  std::size_t rows_ = 0;
};

/// The convolution, or the gradient of its input.
class DepthwiseConvolution final : public Kernel {
 public:
  DepthwiseConvolution(const KernelRequest& request, const DepthwiseShape& shape, bool flips, bool normalizes, Isa isa)
      : shape_(shape),
        flips_(flips),
        has_bias_(request.inputs.size() > 2 && !normalizes),
        limits_(depthwise_limits(request, normalizes)),
        rows_(request.outputs[0].shape[0] * shape.out_height),
        y_(request.outputs[0]),
        convolve_(kernels(isa).depthwise.convolve[request.inputs[0].dtype]),
        kernel_(request, 1, layout_),
        zeros_(layout_.take(row_bytes())),
        flipped_(layout_.take(flips ? kernel_floats() * sizeof(float) : 0)),
        input_(request, shape, normalizes, isa, layout_) {
    if (has_bias_) bias_ = WideOperand(request, 2, layout_);
  }

  void run(const KernelArguments& arguments) override {
    auto* const scratch = static_cast<char*>(arguments.scratch);
    auto* const zeros = reinterpret_cast<float*>(scratch + zeros_);
    std::fill_n(zeros, shape_.channels, 0.0F);
    const float* const kernel = flips_ ? flip(kernel_.read(arguments), scratch) : kernel_.read(arguments);
    const float* const bias = has_bias_ ? bias_.read(arguments) : zeros;
    DepthwiseShape shape = shape_;
    shape.past_caches = goes_past_caches(y_, arguments.outputs[0]);
    input_.prepare(arguments);
    parallel_ranges(rows_, grain_of(shape_.out_width * shape_.channels), input_.threads(),
                    [&](int thread, Index begin, Index end) {
                      input_.on_thread(arguments, thread, [&](const DepthwiseRows& x) {
                        convolve_(shape, x, kernel, bias, limits_, zeros, arguments.outputs[0], begin, end);
                      });
                      if (shape.past_caches) finish_stores();
                    });
  }

  std::size_t scratch_bytes() const override { return layout_.size(); }

 private:
  std::size_t row_bytes() const { return static_cast<std::size_t>(shape_.channels) * sizeof(float); }
  std::size_t kernel_floats() const { return static_cast<std::size_t>(shape_.taps * shape_.taps * shape_.channels); }

  /// The kernel turned by half a turn.
  const float* flip(const float* kernel, char* scratch) const {
    auto* const flipped = reinterpret_cast<float*>(scratch + flipped_);
    const Index taps = shape_.taps * shape_.taps;
    for (Index i = 0; i < taps; ++i) {
      std::copy_n(kernel + i * shape_.channels, shape_.channels, flipped + (taps - 1 - i) * shape_.channels);
    }
    return flipped;
  }

  const DepthwiseShape shape_;
  const bool flips_, has_bias_;
  const DepthwiseLimits limits_;
  const Index rows_;
  const Spec y_;
  const DepthwiseFunctions::Convolve convolve_;
  ScratchLayout layout_;
  const WideOperand kernel_;
  const std::size_t zeros_, flipped_;
  const InputRows input_;
  WideOperand bias_;
};

class DepthwiseKernelGradient final : public Kernel {
 public:
  DepthwiseKernelGradient(const KernelRequest& request, const DepthwiseShape& shape, bool normalizes, Isa isa)
      : shape_(shape),
        rows_(request.inputs[1].shape[0] * shape.out_height),
        floats_(shape.taps * shape.taps * shape.channels),
        gradient_(kernels(isa).depthwise.kernel_gradient[request.inputs[0].dtype]),
        input_(request, shape, normalizes, isa, layout_) {
    // The number of blocks doesn't depend on the number of threads, so that the sums don't.
    constexpr Index block_elements = 131072, most_blocks = 32;
    blocks_ =
        std::max<Index>(1, std::min({rows_, most_blocks, rows_ * shape.out_width * shape.channels / block_elements}));
    zeros_ = layout_.take(static_cast<std::size_t>(shape.channels) * sizeof(float));
    sums_ = layout_.take(static_cast<std::size_t>(blocks_ * floats_) * sizeof(float));
    result_ = WideResult(request, layout_);
  }

  void run(const KernelArguments& arguments) override {
    auto* const scratch = static_cast<char*>(arguments.scratch);
    auto* const zeros = reinterpret_cast<float*>(scratch + zeros_);
    auto* const sums = reinterpret_cast<float*>(scratch + sums_);
    std::fill_n(zeros, shape_.channels, 0.0F);
    input_.prepare(arguments);
    parallel_ranges(blocks_, 1, input_.threads(), [&](int thread, Index begin, Index end) {
      input_.on_thread(arguments, thread, [&](const DepthwiseRows& x) {
        for (Index i = begin; i < end; ++i) {
          gradient_(shape_, x, arguments.inputs[1], zeros, sums + i * floats_, rows_ * i / blocks_,
                    rows_ * (i + 1) / blocks_);
        }
      });
    });
    result_.set_to_sum(arguments, sums, blocks_);
  }

  std::size_t scratch_bytes() const override { return layout_.size(); }

 private:
  const DepthwiseShape shape_;
  const Index rows_, floats_;
  const DepthwiseFunctions::KernelGradient gradient_;
  ScratchLayout layout_;
  const InputRows input_;
  Index blocks_ = 1;
  std::size_t zeros_ = 0, sums_ = 0;
  WideResult result_;
};

/// Kernels of normalized x are those of float32.
bool takes_normalized(const KernelRequest& request, bool normalizes, std::string& reason) {
  if (!normalizes) return true;
  for (const Spec& spec : {request.inputs[0], request.inputs[1], request.outputs[0]}) {
    if (spec.dtype == DType::float32) continue;
    decline(reason, "takes float32; got {}", spec.dtype);
    return false;
  }
  return true;
}

template <bool normalizes>
std::unique_ptr<Kernel> make_depthwise(const KernelRequest& request, Isa isa, std::string& reason) {
  if (residual_of(request)) return decline(reason, "takes no residual");
  const Shape &x = request.inputs[0].shape, &kernel = request.inputs[1].shape;
  if (!takes_depthwise(request, x, kernel, reason) || !takes_normalized(request, normalizes, reason)) return nullptr;
  const DepthwiseShape shape = depthwise_shape(request, x, request.outputs[0].shape, kernel[0]);
  return std::make_unique<DepthwiseConvolution>(request, shape, false, normalizes, isa);
}

std::unique_ptr<Kernel> make_depthwise_input_gradient(const KernelRequest& request, Isa isa, std::string& reason) {
  const Shape &g = request.inputs[0].shape, &kernel = request.inputs[1].shape, &x = request.outputs[0].shape;
  if (!takes_depthwise(request, x, kernel, reason)) return nullptr;
  if (request.outputs[0].dtype != request.inputs[0].dtype) {
    return decline(reason, "takes gradients of the operands' dtype; got {} from {}", request.outputs[0].dtype,
                   request.inputs[0].dtype);
  }
  DepthwiseShape shape = depthwise_shape(request, g, x, kernel[0]);
  if (shape.stride == 1) {  // the convolution of g with the flipped kernel
    shape.top = shape.taps - 1 - shape.top;
    shape.left = shape.taps - 1 - shape.left;
  } else {
    shape.transposed = true;
  }
  return std::make_unique<DepthwiseConvolution>(request, shape, !shape.transposed, false, isa);
}

template <bool normalizes>
std::unique_ptr<Kernel> make_depthwise_kernel_gradient(const KernelRequest& request, Isa isa, std::string& reason) {
  const Shape &x = request.inputs[0].shape, &g = request.inputs[1].shape, &kernel = request.outputs[0].shape;
  if (!takes_depthwise(request, x, kernel, reason) || !takes_normalized(request, normalizes, reason)) return nullptr;
  return std::make_unique<DepthwiseKernelGradient>(request, depthwise_shape(request, x, g, kernel[0]), normalizes, isa);
}

}  // namespace

Entries depthwise_entries() {
  return {entry<make_depthwise<false>>("conv2d"), entry<make_depthwise<true>>("normalized_conv2d"),
          entry<make_depthwise_input_gradient>("conv2d_input_gradient"),
          entry<make_depthwise_kernel_gradient<false>>("conv2d_kernel_gradient"),
          entry<make_depthwise_kernel_gradient<true>>("normalized_conv2d_kernel_gradient")};
}

}  // namespace mezzo::xsimd_kernels
