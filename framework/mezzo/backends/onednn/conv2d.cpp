#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/onednn/creators.hpp>
#include <mezzo/backends/onednn/relu_kernel.hpp>

// Images stay NHWC, kernels are packed in each call. Measured on AVX512_BF16 (2 cores, batch 128 and 32, oneDNN 2.6 and
// 3.2): with the layouts that oneDNN chooses (nChw16c), the first layer of a CNN (28x28x1, 3x3, 32) takes 0.24 ms and
// its reorders 0.37 ms; in NHWC it takes 0.33 ms. From 32 channels on both layouts are equally fast without the
// reorders. Kernels in HWIO select the `gemm` implementation, which is 2 to 10 times slower; packing takes 4 us
// (3x3x32x64).

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

}  // namespace

std::unique_ptr<Kernel> make_conv2d(const KernelRequest& request, std::string& reason) {
  if (!takes_operands(request, reason)) return nullptr;
  const Convolution c = convolution(request, request.inputs[0], request.inputs[1], request.outputs[0]);
  std::vector<Operand> operands{{.argument = DNNL_ARG_SRC, .output = false, .index = 0, .plain = c.x.plain()},
                                {.argument = DNNL_ARG_WEIGHTS, .output = false, .index = 1, .plain = c.kernel.plain()},
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
  // For one channel a group, oneDNN 3.2 puts it before jit_dw: 153 ms instead of 2 ms (32x56x56x64, stride 2,
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
