#include <mezzo/backends/xsimd/few_taps/few_taps.hpp>

#include <algorithm>
#include <limits>
#include <vector>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/wide_operand.hpp>

namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

/// True if the sums have few terms and all operands are stored as this family loads them. Gives no reason otherwise,
/// since it is meant for few of the convolutions.
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

/// Copies rows of images to float32 with their padding.
class PaddedRows {
 public:
  PaddedRows(const KernelRequest& request, const FewTapsShape& shape, Isa isa)
      : shape_(shape), dtype_(request.inputs[0].dtype), widen_(kernels(isa).cast.from_storage[dtype_].float32) {}

  /// Numbers of the copy for all outputs of an image.
  Index floats() const { return rows_under(shape_.out_height) * shape_.row(); }

  /// Calls body(copy, first row, rows) for the rows [begin, end) of the outputs, counted over all images, with those of
  /// one image at a time.
  template <class Body>
  void for_images(const void* x, Index begin, Index end, float* copy, const Body& body) const {
    while (begin < end) {
      const Index image = begin / shape_.out_height, row = begin % shape_.out_height;
      const Index rows = std::min(end - begin, shape_.out_height - row);
      const auto* from = static_cast<const char*>(x) + image * shape_.height * row_bytes();
      for (Index i = 0; i < rows_under(rows); ++i) {
        copy_row(from, row * shape_.down + i - shape_.top, copy + i * shape_.row());
      }
      body(copy, begin, rows);
      begin += rows;
    }
  }

 private:
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
        padded_(request, shape_, isa),
        kernel_(request, 1, layout_),
        zeros_(layout_.take(static_cast<std::size_t>(shape_.filters) * sizeof(float))) {
    if (has_bias_) bias_ = WideOperand(request, 2, layout_);
    for (int i = 0; i < thread_count(); ++i) {
      copies_.push_back(layout_.take(static_cast<std::size_t>(padded_.floats()) * sizeof(float)));
    }
  }

  void run(const KernelArguments& arguments) override {
    auto* const scratch = static_cast<char*>(arguments.scratch);
    auto* const zeros = reinterpret_cast<float*>(scratch + zeros_);
    std::fill_n(zeros, shape_.filters, 0.0F);
    const float* const kernel = kernel_.read(arguments);
    const float* const bias = has_bias_ ? bias_.read(arguments) : zeros;
    const Index work = shape_.out_width * shape_.filters * shape_.taps();
    const auto threads = static_cast<int>(std::clamp<Index>(
        rows_ / grain_of(work), 1, std::min<Index>(thread_count(), static_cast<Index>(copies_.size()))));
    parallel_threads(threads, [&](int thread, int count) {
      auto* const copy = reinterpret_cast<float*>(scratch + copies_[static_cast<std::size_t>(thread)]);
      padded_.for_images(arguments.inputs[0], rows_ * thread / count, rows_ * (thread + 1) / count, copy,
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
  const PaddedRows padded_;
  ScratchLayout layout_;
  const WideOperand kernel_;
  const std::size_t zeros_;
  WideOperand bias_;
  std::vector<std::size_t> copies_;
};

class FewTapsKernelGradient final : public Kernel {
 public:
  FewTapsKernelGradient(const KernelRequest& request, Isa isa)
      : shape_(shape_of(request, request.inputs[0].shape, request.outputs[0].shape, request.inputs[1].shape)),
        rows_(request.inputs[1].shape[0] * shape_.out_height),
        row_bytes_(shape_.out_width * shape_.filters * size_of(request.inputs[1].dtype)),
        floats_(shape_.taps() * shape_.filters),
        gradient_(kernels(isa).few_taps.kernel_gradient[request.inputs[1].dtype]),
        padded_(request, shape_, isa) {
    // The number of blocks doesn't depend on the number of threads, so that the sums don't.
    constexpr Index block_elements = 65536, most_blocks = 32;
    blocks_ =
        std::max<Index>(1, std::min({rows_, most_blocks, rows_ * shape_.out_width * shape_.filters / block_elements}));
    for (Index i = 0; i < blocks_; ++i) {
      sums_.push_back(layout_.take(static_cast<std::size_t>(floats_) * sizeof(float)));
    }
    for (int i = 0; i < thread_count(); ++i) {
      copies_.push_back(layout_.take(static_cast<std::size_t>(padded_.floats()) * sizeof(float)));
    }
    const Spec& out = request.outputs[0];
    if (out.dtype == DType::float32) return;
    wide_ = layout_.take(static_cast<std::size_t>(floats_) * sizeof(float));
    narrow_ = cast_kernel(out.shape, DType::float32, out.dtype, request.where);
  }

  void run(const KernelArguments& arguments) override {
    auto* const scratch = static_cast<char*>(arguments.scratch);
    const auto threads = static_cast<int>(
        std::min<Index>({blocks_, static_cast<Index>(thread_count()), static_cast<Index>(copies_.size())}));
    parallel_threads(threads, [&](int thread, int count) {
      auto* const copy = reinterpret_cast<float*>(scratch + copies_[static_cast<std::size_t>(thread)]);
      for (Index block = blocks_ * thread / count; block < blocks_ * (thread + 1) / count; ++block) {
        float* const sums = sums_of(scratch, block);
        std::fill_n(sums, floats_, 0.0F);
        padded_.for_images(arguments.inputs[0], rows_ * block / blocks_, rows_ * (block + 1) / blocks_, copy,
                           [&](const float* x, Index row, Index rows) {
                             gradient_(shape_, x, arguments.in<char>(1) + row * row_bytes_, sums, rows);
                           });
      }
    });
    auto* const wide = narrow_ ? reinterpret_cast<float*>(scratch + wide_) : arguments.out<float>(0);
    for (Index i = 0; i < floats_; ++i) {
      double sum = 0;
      for (Index block = 0; block < blocks_; ++block) sum += static_cast<double>(sums_of(scratch, block)[i]);
      wide[i] = static_cast<float>(sum);
    }
    if (narrow_) {
      const void* const from = wide;
      narrow_->run({&from, arguments.outputs, nullptr});
    }
  }

  std::size_t scratch_bytes() const override { return layout_.size(); }

 private:
  float* sums_of(char* scratch, Index block) const {
    return reinterpret_cast<float*>(scratch + sums_[static_cast<std::size_t>(block)]);
  }

  const FewTapsShape shape_;
  const Index rows_, row_bytes_, floats_;
  const FewTapsFunctions::KernelGradient gradient_;
  const PaddedRows padded_;
  ScratchLayout layout_;
  Index blocks_ = 1;
  std::vector<std::size_t> sums_, copies_;
  std::size_t wide_ = 0;
  std::unique_ptr<Kernel> narrow_;
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
