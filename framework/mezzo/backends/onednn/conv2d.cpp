#include <algorithm>
#include <cstring>
#include <utility>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/onednn/creators.hpp>
#include <mezzo/backends/onednn/relu_kernel.hpp>

// Images stay NHWC, kernels that aren't constants are packed in each call. Measured on AVX512_BF16 (2 cores, batch 128
// and 32, oneDNN 2.6 and 3.2): with the layouts that oneDNN chooses (nChw16c), the first layer of a CNN (28x28x1, 3x3,
// 32) takes 0.24 ms and its reorders 0.37 ms; in NHWC it takes 0.33 ms. From 32 channels on both layouts are equally
// fast without the reorders. Kernels in HWIO select the `gemm` implementation, which is 2 to 10 times slower; packing
// takes 4 us (3x3x32x64).

namespace mezzo::onednn {
namespace {

Array images(const Spec& spec) {
  const std::int64_t h = spec.shape[1], w = spec.shape[2], c = spec.shape[3];
  return {{spec.shape[0], c, h, w}, {h * w * c, 1, w * c, c}, type_of(spec)};
}

/// A kernel (kh, kw, in, groups * out) as (out, in, kh, kw), or as (groups, out, in, kh, kw) if it has several groups.
Array kernels(const Spec& spec, std::int64_t groups) {
  const std::int64_t h = spec.shape[0], w = spec.shape[1], in = spec.shape[2], all = spec.shape[3];
  Array array{{all / groups, in, h, w}, {1, all, w * in * all, in * all}, type_of(spec)};
  if (groups > 1) {
    array.sizes.insert(array.sizes.begin(), groups);
    array.strides.insert(array.strides.begin(), all / groups);
  }
  return array;
}

Convolution convolution(const KernelRequest& request, const Spec& x, const Spec& kernel, const Spec& y) {
  const auto& strides = request.attributes.get<Shape>("strides");
  const auto& dilation = request.attributes.get<Shape>("dilation");
  const auto& padding = request.attributes.get<Shape>("padding");
  return {.x = images(x),
          .kernel = kernels(kernel, request.attributes.get<std::int64_t>("groups")),
          .bias = bias_of(request, 1, 0),
          .y = images(y),
          .strides = strides,
          .dilation = {dilation[0] - 1, dilation[1] - 1},
          .padding_before = {padding[0], padding[2]},
          .padding_after = {padding[1], padding[3]}};
}

/// The first accepted offer: for images in mezzo's layout, else for images in the layout that oneDNN chooses.
template <class MakeOffer>
Offer best_offer(Convolution& convolution, MakeOffer&& make_offer) {
  Offer offer = make_offer(convolution);
  if (offer.accepted()) return offer;
  convolution.any_images = true;
  Offer other = make_offer(convolution);
  return other.accepted() ? other : offer;
}

/// An input gradient as the convolution of the cotangent by the turned kernel: w[kh - 1 - i, kw - 1 - j], with channels
/// and filters exchanged.
class TurnedConvolution final : public Kernel {
 public:
  TurnedConvolution(std::unique_ptr<Kernel> convolution, const Spec& kernel)
      : convolution_(std::move(convolution)),
        taps_(kernel.shape[0] * kernel.shape[1]),
        channels_(kernel.shape[2]),
        row_bytes_(static_cast<std::size_t>(kernel.shape[3]) * dtype_size(kernel.dtype)) {
    turned_ = layout_.take(bytes_of(kernel));
    rest_ = layout_.take(convolution_->scratch_bytes());
  }

  void run(const KernelArguments& arguments) override {
    char* const turned = static_cast<char*>(arguments.scratch) + turned_;
    const char* const kernel = arguments.in<char>(1);
    parallel_for(taps_ * channels_, grain_of(static_cast<std::int64_t>(row_bytes_)),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t row = begin; row < end; ++row) {
                     const std::int64_t from = (taps_ - 1 - row / channels_) * channels_ + row % channels_;
                     std::memcpy(turned + static_cast<std::size_t>(row) * row_bytes_,
                                 kernel + static_cast<std::size_t>(from) * row_bytes_, row_bytes_);
                   }
                 });
    const void* const inputs[] = {arguments.inputs[0], turned};
    convolution_->run({inputs, arguments.outputs, static_cast<char*>(arguments.scratch) + rest_});
  }

  std::size_t scratch_bytes() const override { return layout_.size(); }
  std::string detail() const override { return "turned " + convolution_->detail(); }

 private:
  std::unique_ptr<Kernel> convolution_;
  std::int64_t taps_, channels_;
  std::size_t row_bytes_, turned_ = 0, rest_ = 0;
  ScratchLayout layout_;
};

/// True if a turned convolution is faster than oneDNN's input gradient. On Zen 5, 2 cores, it takes 0.83 to 0.89 of the
/// time for 256 and 512 channels, and equally long for 64 and 128.
bool turns(const Convolution& c, const Shape& kernel, DType dtype) {
  constexpr std::int64_t fewest = 256;
  return dtype == DType::bfloat16 && !has_amx_bfloat16() && kernel[0] * kernel[1] > 1 && c.kernel.sizes.size() == 4 &&
         c.strides == Sizes{1, 1} && c.dilation == Sizes{0, 0} && std::min(kernel[2], kernel[3]) >= fewest &&
         std::max(c.padding_before[0], c.padding_after[0]) < kernel[0] &&
         std::max(c.padding_before[1], c.padding_after[1]) < kernel[1];
}

std::unique_ptr<Kernel> make_turned(const Convolution& of, const Spec& kernel, std::string& reason) {
  const std::int64_t h = kernel.shape[0], w = kernel.shape[1], in = kernel.shape[2], out = kernel.shape[3];
  const auto padding = [&](const Sizes& sizes) { return Sizes{h - 1 - sizes[0], w - 1 - sizes[1]}; };
  Convolution c{.x = of.y,
                .kernel = {{in, out, h, w}, {out, 1, w * in * out, in * out}, of.kernel.type},
                .bias = {},
                .y = of.x,
                .strides = of.strides,
                .dilation = of.dilation,
                .padding_before = padding(of.padding_before),
                .padding_after = padding(of.padding_after)};
  auto convolution =
      make_kernel(best_offer(c, [](const Convolution& with) { return offer_convolution(with, false); }),
                  {{.argument = DNNL_ARG_SRC, .output = false, .index = 0, .plain = c.x.plain()},
                   {.argument = DNNL_ARG_WEIGHTS, .output = false, .index = 1, .plain = c.kernel.plain()},
                   {.argument = DNNL_ARG_DST, .output = true, .index = 0, .plain = c.y.plain()}},
                  reason);
  return convolution ? std::make_unique<TurnedConvolution>(std::move(convolution), kernel) : nullptr;
}

}  // namespace

std::unique_ptr<Kernel> make_conv2d(const KernelRequest& request, std::string& reason) {
  if (!takes_operands(request, reason)) return nullptr;
  const Convolution c = convolution(request, request.inputs[0], request.inputs[1], request.outputs[0]);
  std::vector<Operand> operands{{.argument = DNNL_ARG_SRC, .output = false, .index = 0, .plain = c.x.plain()},
                                {.argument = DNNL_ARG_WEIGHTS,
                                 .output = false,
                                 .index = 1,
                                 .plain = c.kernel.plain(),
                                 .constant = constant_of(request, 1)},
                                {.argument = DNNL_ARG_DST, .output = true, .index = 0, .plain = c.y.plain()}};
  if (!c.bias.sizes.empty())
    operands.push_back({.argument = DNNL_ARG_BIAS, .output = false, .index = 2, .plain = c.bias.plain()});
  const auto offer = [&](bool relu) {
    Convolution own = c;
    return best_offer(own, [&](const Convolution& with) { return offer_convolution(with, relu); });
  };
  return has_relu(request) ? make_relu_kernel(request, offer, operands, reason)
                           : make_kernel(offer(false), operands, reason);
}

std::unique_ptr<Kernel> make_conv2d_input_gradient(const KernelRequest& request, std::string& reason) {
  if (!takes_operands(request, reason)) return nullptr;
  const Shape& kernel = request.inputs[1].shape;
  Convolution c = convolution(request, request.outputs[0], request.inputs[1], request.inputs[0]);
  if (turns(c, kernel, request.inputs[0].dtype)) return make_turned(c, request.inputs[1], reason);
  // For one channel per group, oneDNN 3.2 prefers it to jit_dw: 153 ms instead of 2 ms (32x56x56x64, stride 2,
  // bfloat16).
  if (kernel[2] == 1) c.avoided = "brgconv_strided";
  return make_kernel(best_offer(c, offer_input_gradient),
                     {{.argument = DNNL_ARG_DIFF_DST, .output = false, .index = 0, .plain = c.y.plain()},
                      {.argument = DNNL_ARG_WEIGHTS, .output = false, .index = 1, .plain = c.kernel.plain()},
                      {.argument = DNNL_ARG_DIFF_SRC, .output = true, .index = 0, .plain = c.x.plain()}},
                     reason);
}

std::unique_ptr<Kernel> make_conv2d_kernel_gradient(const KernelRequest& request, std::string& reason) {
  if (!takes_operands(request, reason)) return nullptr;
  const Shape& kernel = request.outputs[0].shape;
  Convolution c = convolution(request, request.inputs[0], request.outputs[0], request.inputs[1]);
  // With strides and fewer channels than a block, this implementation writes past the end of its scratchpad (oneDNN's
  // issue 6035, all versions).
  if (c.strides != Sizes{1, 1} && kernel[2] < 16) c.avoided = "1x1";
  return make_kernel(best_offer(c, offer_kernel_gradient),
                     {{.argument = DNNL_ARG_SRC, .output = false, .index = 0, .plain = c.x.plain()},
                      {.argument = DNNL_ARG_DIFF_DST, .output = false, .index = 1, .plain = c.y.plain()},
                      {.argument = DNNL_ARG_DIFF_WEIGHTS, .output = true, .index = 0, .plain = c.kernel.plain()}},
                     reason);
}

}  // namespace mezzo::onednn
