#include <mezzo/backends/xsimd/few_taps/few_taps.hpp>

#include <algorithm>
#include <limits>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/xsimd/conversions.hpp>
#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/wide_operand.hpp>

namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

/// True if the sums have few terms and all operands are stored as this family loads them. Sets no reason otherwise,
/// since it is made for few convolutions.
bool takes_few_taps(const KernelRequest& request, const Shape& kernel) {
  constexpr Index fewest_filters = 8;
  for (const auto* specs : {&request.inputs, &request.outputs}) {
    for (const Spec& spec : *specs) {
      if (!is_stored(spec.dtype)) return false;
    }
  }
  return kernel[0] * kernel[1] * kernel[2] <= most_taps && kernel[0] * kernel[1] > 1 && kernel[3] >= fewest_filters &&
         request.attributes.get<Index>("groups") == 1 && request.attributes.get<Shape>("dilation") == Shape{1, 1};
}

FewTapsShape shape_of(const KernelRequest& request, const Shape& x, const Shape& kernel, const Shape& y) {
  const auto& strides = request.attributes.get<Shape>("strides");
  const auto& padding = request.attributes.get<Shape>("padding");
  return {.height = x[1],
          .width = x[2],
          .channels = x[3],
          .out_height = y[1],
          .out_width = y[2],
          .filters = y[3],
          .kernel_height = kernel[0],
          .kernel_width = kernel[1],
          .down = strides[0],
          .across = strides[1],
          .top = padding[0],
          .left = padding[2]};
}

/// Copies rows of images to float32 with their padding, in scratch memory of each thread.
class PaddedRows {
 public:
  PaddedRows(const KernelRequest& request, const FewTapsShape& shape, Isa isa, ScratchLayout& layout)
      : shape_(shape),
        dtype_(request.inputs[0].dtype),
        widen_(kernels(isa).cast.from_storage[dtype_].float32),
        threads_(thread_count()),
        floats_(round_up(rows_under(shape.out_height) * shape.row(), line)),
        copies_(layout.take(static_cast<std::size_t>(threads_ * floats_) * sizeof(float))) {}

  /// Number of threads for `pieces` of work.
  int threads(Index pieces) const {
    return static_cast<int>(std::clamp<Index>(pieces, 1, std::min<Index>(threads_, thread_count())));
  }

  /// Calls body(copy, first row, rows) for the rows [begin, end) of the outputs, counted over all images, with those of
  /// one image at a time.
  template <class Body>
  void for_images(const KernelArguments& arguments, int thread, Index begin, Index end, const Body& body) const {
    float* const copy = reinterpret_cast<float*>(static_cast<char*>(arguments.scratch) + copies_) + thread * floats_;
    while (begin < end) {
      const Index image = begin / shape_.out_height, row = begin % shape_.out_height;
      const Index rows = std::min(end - begin, shape_.out_height - row);
      const char* const from = arguments.in<char>(0) + image * shape_.height * row_bytes();
      for (Index i = 0; i < rows_under(rows); ++i) {
        copy_row(from, row * shape_.down + i - shape_.top, copy + i * shape_.row());
      }
      body(copy, begin, rows);
      begin += rows;
    }
  }

 private:
  static constexpr Index line = 16;  // floats of a cache line

  Index rows_under(Index rows) const { return (rows - 1) * shape_.down + shape_.kernel_height; }
  Index row_bytes() const { return shape_.width * shape_.channels * size_of(dtype_); }

  void copy_row(const char* image, Index row, float* to) const {
    if (row < 0 || row >= shape_.height) {
      std::fill_n(to, shape_.row(), 0.0F);
      return;
    }
    const Index before = std::min(shape_.left * shape_.channels, shape_.row());
    const Index count = std::min(shape_.row() - before, shape_.width * shape_.channels);
    std::fill_n(to, before, 0.0F);
    widen_(image + row * row_bytes(), to + before, count);
    std::fill(to + before + count, to + shape_.row(), 0.0F);
  }

  const FewTapsShape shape_;
  const DType dtype_;
  const CastFunctions::Cast widen_;
  const Index threads_, floats_;  ///< of a thread's copy
  const std::size_t copies_;
};

class FewTapsConvolution final : public Kernel {
 public:
  FewTapsConvolution(const KernelRequest& request, Isa isa)
      : shape_(shape_of(request, request.inputs[0].shape, request.inputs[1].shape, request.outputs[0].shape)),
        rows_(request.outputs[0].shape[0] * shape_.out_height),
        row_bytes_(shape_.out_width * shape_.filters * size_of(request.outputs[0].dtype)),
        least_(has_relu(request) ? 0 : -std::numeric_limits<float>::infinity()),
        has_bias_(request.inputs.size() > 2),
        convolve_(kernels(isa).few_taps.convolve[request.outputs[0].dtype]),
        padded_(request, shape_, isa, layout_),
        kernel_(request, 1, layout_),
        zeros_(layout_.take(static_cast<std::size_t>(shape_.filters) * sizeof(float))) {
    if (has_bias_) bias_ = WideOperand(request, 2, layout_);
  }

  void run(const KernelArguments& arguments) override {
    auto* const scratch = static_cast<char*>(arguments.scratch);
    auto* const zeros = reinterpret_cast<float*>(scratch + zeros_);
    std::fill_n(zeros, shape_.filters, 0.0F);
    const float* const kernel = kernel_.read(arguments);
    const float* const bias = has_bias_ ? bias_.read(arguments) : zeros;
    const Index work = shape_.out_width * shape_.filters * shape_.taps();
    parallel_threads(padded_.threads(rows_ / grain_of(work)), [&](int thread, int count) {
      padded_.for_images(arguments, thread, rows_ * thread / count, rows_ * (thread + 1) / count,
                         [&](const float* x, Index row, Index rows) {
                           convolve_(shape_, x, kernel, bias, least_, arguments.out<char>(0) + row * row_bytes_, rows);
                         });
    });
  }

  std::size_t scratch_bytes() const override { return layout_.size(); }

 private:
  const FewTapsShape shape_;
  const Index rows_, row_bytes_;
  const float least_;
  const bool has_bias_;
  const FewTapsFunctions::Convolve convolve_;
  ScratchLayout layout_;
  const PaddedRows padded_;
  const WideOperand kernel_;
  const std::size_t zeros_;
  WideOperand bias_;
};

class FewTapsKernelGradient final : public Kernel {
 public:
  FewTapsKernelGradient(const KernelRequest& request, Isa isa)
      : shape_(shape_of(request, request.inputs[0].shape, request.outputs[0].shape, request.inputs[1].shape)),
        rows_(request.inputs[1].shape[0] * shape_.out_height),
        row_bytes_(shape_.out_width * shape_.filters * size_of(request.inputs[1].dtype)),
        floats_(shape_.taps() * shape_.filters),
        gradient_(kernels(isa).few_taps.kernel_gradient[request.inputs[1].dtype]),
        padded_(request, shape_, isa, layout_) {
    // The number of blocks doesn't depend on the number of threads, so that the sums don't.
    constexpr Index block_elements = 65536, most_blocks = 32;
    blocks_ =
        std::max<Index>(1, std::min({rows_, most_blocks, rows_ * shape_.out_width * shape_.filters / block_elements}));
    sums_ = layout_.take(static_cast<std::size_t>(blocks_ * floats_) * sizeof(float));
    result_ = WideResult(request, layout_);
  }

  void run(const KernelArguments& arguments) override {
    auto* const sums = reinterpret_cast<float*>(static_cast<char*>(arguments.scratch) + sums_);
    parallel_threads(padded_.threads(blocks_), [&](int thread, int count) {
      for (Index block = blocks_ * thread / count; block < blocks_ * (thread + 1) / count; ++block) {
        float* const own = sums + block * floats_;
        std::fill_n(own, floats_, 0.0F);
        padded_.for_images(arguments, thread, rows_ * block / blocks_, rows_ * (block + 1) / blocks_,
                           [&](const float* x, Index row, Index rows) {
                             gradient_(shape_, x, arguments.in<char>(1) + row * row_bytes_, own, rows);
                           });
      }
    });
    result_.set_to_sum(arguments, sums, blocks_);
  }

  std::size_t scratch_bytes() const override { return layout_.size(); }

 private:
  const FewTapsShape shape_;
  const Index rows_, row_bytes_, floats_;
  const FewTapsFunctions::KernelGradient gradient_;
  ScratchLayout layout_;
  const PaddedRows padded_;
  Index blocks_ = 1;
  std::size_t sums_ = 0;
  WideResult result_;
};

std::unique_ptr<Kernel> make_few_taps(const KernelRequest& request, Isa isa, std::string&) {
  if (!takes_few_taps(request, request.inputs[1].shape)) return nullptr;
  return std::make_unique<FewTapsConvolution>(request, isa);
}

std::unique_ptr<Kernel> make_few_taps_kernel_gradient(const KernelRequest& request, Isa isa, std::string&) {
  if (!takes_few_taps(request, request.outputs[0].shape)) return nullptr;
  return std::make_unique<FewTapsKernelGradient>(request, isa);
}

}  // namespace

Entries few_taps_entries() {
  return {entry<make_few_taps>("conv2d"), entry<make_few_taps_kernel_gradient>("conv2d_kernel_gradient")};
}

}  // namespace mezzo::xsimd_kernels
