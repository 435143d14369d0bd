#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/onednn/creators.hpp>
#include <mezzo/backends/onednn/primitive_kernel.hpp>
#include <mezzo/backends/onednn/request.hpp>

// Images stay NHWC, kernels are packed at each call. Measured on AVX512_BF16 (2 cores, batch 128 and 32, oneDNN 2.6
// and 3.2): with layouts of oneDNN's choice (nChw16c) the first layer of a CNN (28x28x1, 3x3, 32) takes 0.24 ms and
// 0.37 ms for reorders, against 0.33 ms in NHWC; from 32 channels on both are equal without the reorders. Kernels in
// HWIO mean the `gemm` implementation: 2 to 10 times slower, where packing takes 4 us (3x3x32x64).

namespace mezzo::onednn {
namespace {

Array images(const Spec& spec) {
  const std::int64_t h = spec.shape[1], w = spec.shape[2], c = spec.shape[3];
  return {{spec.shape[0], c, h, w}, {h * w * c, 1, w * c, c}, type_of(spec)};
}

/// (kh, kw, in, groups * out) as (out, in, kh, kw), or as (groups, out, in, kh, kw) of several groups.
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
  return {images(x),
          kernels(kernel, request.attributes.get<std::int64_t>("groups")),
          bias_of(request, 1, 0),
          images(y),
          strides,
          {dilation[0] - 1, dilation[1] - 1},
          {padding[0], padding[2]},
          {padding[1], padding[3]}};
}

/// The first fast offer: for images as they lie, else for images laid out as oneDNN likes.
template <class Ask>
Offer best_offer(Convolution& convolution, Ask&& ask) {
  Offer offer = ask(convolution);
  if (offer.accepted()) return offer;
  convolution.any_images = true;
  Offer other = ask(convolution);
  return other.accepted() ? other : offer;
}

}  // namespace

std::unique_ptr<Kernel> make_conv2d(const KernelRequest& request, std::string& reason) {
  if (!takes_operands(request, reason)) return nullptr;
  Convolution c = convolution(request, request.inputs[0], request.inputs[1], request.outputs[0]);
  std::vector<Operand> operands{{DNNL_ARG_SRC, false, 0, c.x.plain()},
                                {DNNL_ARG_WEIGHTS, false, 1, c.kernel.plain()},
                                {DNNL_ARG_DST, true, 0, c.y.plain()}};
  if (!c.bias.sizes.empty()) operands.push_back({DNNL_ARG_BIAS, false, 2, c.bias.plain()});
  const bool relu = has_relu(request);
  return make_kernel(best_offer(c, [&](const Convolution& with) { return offer_convolution(with, relu); }), operands,
                     reason);
}

std::unique_ptr<Kernel> make_conv2d_input_gradient(const KernelRequest& request, std::string& reason) {
  if (!takes_operands(request, reason)) return nullptr;
  const Shape& kernel = request.inputs[1].shape;
  Convolution c = convolution(request, request.outputs[0], request.inputs[1], request.inputs[0]);
  // oneDNN 3.2 prefers it to jit_dw for one channel a group: 153 ms instead of 2 (32x56x56x64, stride 2, bfloat16).
  if (kernel[2] == 1) c.avoided = "brgconv_strided";
  return make_kernel(best_offer(c, offer_input_gradient),
                     {{DNNL_ARG_DIFF_DST, false, 0, c.y.plain()},
                      {DNNL_ARG_WEIGHTS, false, 1, c.kernel.plain()},
                      {DNNL_ARG_DIFF_SRC, true, 0, c.x.plain()}},
                     reason);
}

std::unique_ptr<Kernel> make_conv2d_kernel_gradient(const KernelRequest& request, std::string& reason) {
  if (!takes_operands(request, reason)) return nullptr;
  const Shape& kernel = request.outputs[0].shape;
  Convolution c = convolution(request, request.inputs[0], request.outputs[0], request.inputs[1]);
  // With strides and fewer channels than a block it writes beyond its scratchpad (oneDNN's issue 6035: all versions).
  if (c.strides != Sizes{1, 1} && kernel[2] < 16) c.avoided = "1x1";
  return make_kernel(best_offer(c, offer_kernel_gradient),
                     {{DNNL_ARG_SRC, false, 0, c.x.plain()},
                      {DNNL_ARG_DIFF_DST, false, 1, c.y.plain()},
                      {DNNL_ARG_DIFF_WEIGHTS, true, 0, c.kernel.plain()}},
                     reason);
}

}  // namespace mezzo::onednn
