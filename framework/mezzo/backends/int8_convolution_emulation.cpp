#include <algorithm>
#include <utility>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/common/part_codes.hpp>
#include <mezzo/backends/reference/tiled_product.hpp>
#include <mezzo/backends/table.hpp>
#include <mezzo/graph/attributes_without.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

using Index = std::int64_t;

using FloatCodes = PartCodes<float>;

/// A convolution, or the gradient for its input, by the best float32 kernel.
class EmulatedConvolution final : public Kernel {
 public:
  explicit EmulatedConvolution(const KernelRequest& request)
      : images_(request.outputs[0].shape[0]),
        pixels_(request.outputs[0].shape[1] * request.outputs[0].shape[2]),
        columns_(request.outputs[0].shape[3]),
        x_(1, images_, images_ == 0 ? 0 : element_count(request.inputs[0].shape) / images_, layout_),
        kernel_(quantized_kernel(request, layout_)),
        biased_(request.inputs.size() > 2),
        relu_(has_relu(request)) {
    KernelRequest floats = request;
    floats.constants.clear();  // they are the numbers before the quantization
    floats.attributes = detail::without(request.attributes, {"products", "epilogue"});
    floats.inputs.resize(2);
    convolution_ = choose_kernel(floats);
  }

  void run(const KernelArguments& arguments) override {
    x_.quantize(arguments.in<float>(0), arguments.scratch);
    kernel_.quantize(arguments.in<float>(1), arguments.scratch);
    const void* const codes[] = {x_.codes(arguments.scratch), kernel_.codes(arguments.scratch)};
    convolution_.kernel->run({codes, arguments.outputs, static_cast<char*>(arguments.scratch) + layout_.size()});
    finish(arguments);
  }

  std::size_t scratch_bytes() const override { return layout_.size() + convolution_.kernel->scratch_bytes(); }
  std::string detail() const override { return "float32 " + convolution_.implementation; }

 private:
  static FloatCodes quantized_kernel(const KernelRequest& request, ScratchLayout& layout) {
    const Shape& kernel = request.inputs[1].shape;
    const Index places = kernel[0] * kernel[1];
    return request.op == &ops::conv2d ? FloatCodes(places * kernel[2], kernel[3], 1, layout)
                                      : FloatCodes(places, kernel[2], kernel[3], layout);
  }

  /// Sums of products of codes in units of the operands, then bias and ReLU.
  void finish(const KernelArguments& arguments) const {
    const detail::Int8Scale *const of_image = x_.scales(arguments.scratch), *const of_column =
                                                                                kernel_.scales(arguments.scratch);
    const float* const bias = biased_ ? arguments.in<float>(2) : nullptr;
    parallel_for(images_ * pixels_, grain_of(columns_), [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        float* const y = arguments.out<float>(0) + i * columns_;
        for (Index j = 0; j < columns_; ++j) {
          const float sum = detail::Int8Scale::product(y[j], of_image[i / pixels_].scale, of_column[j].scale);
          y[j] = reference::finish(sum, bias, j, relu_);
        }
      }
    });
  }

  ScratchLayout layout_;
  Index images_, pixels_, columns_;
  FloatCodes x_, kernel_;
  bool biased_, relu_;
  detail::ChosenKernel convolution_;
};

std::unique_ptr<Kernel> create_emulated_convolution(const KernelRequest& request, std::string& reason) {
  if (!request.attributes.has("products")) return nullptr;
  if (!is_of_float32(request, reason)) return nullptr;
  return std::make_unique<EmulatedConvolution>(request);
}

}  // namespace

std::vector<detail::Implementation> int8_convolution_emulation() {
  return without_wide_epilogues({{"emulated", &ops::conv2d, create_emulated_convolution, true},
                                 {"emulated", &ops::conv2d_input_gradient, create_emulated_convolution, true}});
}

}  // namespace mezzo
